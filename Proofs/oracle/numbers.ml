(* A map from numbers to numbers, none of them negative but for the mark of a free place. It keeps them in two arrays outside
   the heap, of which the garbage collector reads nothing: a world costs 8 bytes, a delivery 16. *)

type array = (int, Bigarray.int_elt, Bigarray.c_layout) Bigarray.Array1.t

type t = { mutable keys : array; mutable values : array option; mutable count : int }

let free = -1

let places size =
  let a = Bigarray.Array1.create Bigarray.int Bigarray.c_layout size in
  Bigarray.Array1.fill a free;
  a

let map () = { keys = places 1024; values = Some (places 1024); count = 0 }
let set () = { keys = places 1024; values = None; count = 0 }

(* Where a key is, or would be. The multiplier is that of splitmix64, cut to what a number holds. *)
let place keys key =
  let mask = Bigarray.Array1.dim keys - 1 in
  let mixed = key * 0x1F58476D1CE4E5B9 in
  let rec next i =
    let found = Bigarray.Array1.unsafe_get keys i in
    if found = key || found = free then i else next ((i + 1) land mask)
  in
  next ((mixed lxor (mixed lsr 31)) land mask)

let grow t =
  let size = 2 * Bigarray.Array1.dim t.keys in
  let keys = places size and values = Option.map (fun _ -> places size) t.values in
  for i = 0 to Bigarray.Array1.dim t.keys - 1 do
    let key = t.keys.{i} in
    if key <> free then begin
      let j = place keys key in
      keys.{j} <- key;
      match (t.values, values) with Some from, Some into -> into.{j} <- from.{i} | _ -> ()
    end
  done;
  t.keys <- keys;
  t.values <- values

let find t key =
  match t.values with
  | None -> free
  | Some values ->
      let i = place t.keys key in
      if t.keys.{i} = free then free else values.{i}

(* Whether the key is new. *)
let add t key value =
  if 4 * (t.count + 1) > 3 * Bigarray.Array1.dim t.keys then grow t;
  let i = place t.keys key in
  if t.keys.{i} <> free then false
  else begin
    t.keys.{i} <- key;
    Option.iter (fun values -> values.{i} <- value) t.values;
    t.count <- t.count + 1;
    true
  end

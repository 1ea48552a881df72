(* Goes through all histories of a small scope and prints each merge of a row that occurs in them, once, with what comes
   of it. README.md beside it has the format and the scope. *)

open Model

let replicas = [ 1; 2; 3 ]
let keys = ref [ 1; 2 ]
let columns = [ 1; 2 ]
let no_shares _ = false

(* The model's maps are functions. Each step would look through all steps before it, so they become tables. *)
let table domain f =
  let entries = List.map (fun x -> (x, f x)) domain in
  fun x -> match List.assoc_opt x entries with Some y -> y | None -> f x

let row_table f =
  table !keys (fun k ->
      Option.map (fun x -> { x with cells = table columns x.cells; values = table columns x.values }) (f k))

let tabulated m =
  let st = m.m_state in
  { m with
    m_state = { rows = row_table st.rows; known = table replicas st.known; journal = (fun _ _ -> []) } }

(* {1 Printing} *)

let json_stamp s = Printf.sprintf "[%d,%d,%d]" s.time s.replica s.sequence

let json_value = function Null -> "null" | Int n -> string_of_int n | _ -> assert false

let json_vector v = Printf.sprintf "[%s]" (String.concat "," (List.map (fun r -> string_of_int (v r)) replicas))

let json_columns show f =
  List.filter_map (fun c -> Option.map (fun x -> Printf.sprintf "\"%d\":%s" c (show c x)) (f c)) columns
  |> String.concat "," |> Printf.sprintf "{%s}"

let json_write s v = Printf.sprintf "[%d,%d,%d,%s]" s.time s.replica s.sequence (json_value v)

let json_version x =
  Printf.sprintf "{\"life\":%d,\"base\":%s,\"columns\":%s}" x.life (json_stamp x.base)
    (json_columns (fun c v -> json_write (stamp_of x c) v) x.values)

let json_change ch =
  Printf.sprintf "{\"life\":%d,\"base\":%s,\"columns\":%s}" ch.c_life
    (match ch.c_base with Some s -> json_stamp s | None -> "null")
    (json_columns (fun _ (s, v) -> json_write s v) ch.c_writes)

let json_lost p =
  List.concat_map
    (fun c ->
      List.map
        (fun ((life, s), v) ->
          Printf.sprintf "[%d,%d,%d,%d,%d,%s]" c life s.time s.replica s.sequence (json_value v))
        (journaled p c))
    columns
  |> String.concat "," |> Printf.sprintf "[%s]"

(* {1 Machines and worlds}

   What a replica has is a machine, and a world three of them. There are far fewer machines than worlds, so each gets a number,
   and a world is three numbers in one. *)

let shown m =
  let st = m.m_state in
  let row k =
    match st.rows k with
    | None -> "-"
    | Some x -> json_version x ^ json_columns (fun _ s -> json_stamp s) x.cells
  in
  Printf.sprintf "%d %s %s" m.m_clock (json_vector st.known) (String.concat " " (List.map row !keys))

let numbers : (string, int) Hashtbl.t = Hashtbl.create 100_000
let machines = ref (Array.make 1024 machine_start)
let bits = 20

let number_of m =
  let key = Digest.string (shown m) in
  match Hashtbl.find_opt numbers key with
  | Some n -> n
  | None ->
      let n = Hashtbl.length numbers in
      if n >= 1 lsl bits then failwith "more machines than a world has room for";
      if n = Array.length !machines then machines := Array.append !machines (Array.make n machine_start);
      !machines.(n) <- tabulated m;
      Hashtbl.add numbers key n;
      n

let shift r = (r - 1) * bits
let machine w r = (w lsr shift r) land ((1 lsl bits) - 1)
let replace w r n = w land lnot (((1 lsl bits) - 1) lsl shift r) lor (n lsl shift r)

(* {1 Cases} *)

let cases = Numbers.set ()
let merges = ref 0

(* The first 62 bits of a digest stand for a line. *)
let is_new line =
  Numbers.add cases (Int64.to_int (String.get_int64_le (Digest.string line) 0) land max_int) 0

let case local ch peer known =
  incr merges;
  match plan_merge no_shares local ch peer known with
  | None -> failwith "a change is refused, which a theorem excludes"
  | Some p ->
      let line =
        Printf.sprintf "{\"local\":%s,\"incoming\":%s,\"peer\":%s,\"known\":%s,\"result\":%s,\"lost\":%s}"
          (match local with Some x -> json_version x | None -> "null")
          (json_change ch) (json_vector peer) (json_vector known)
          (json_version (carry_out local p)) (json_lost p)
      in
      if is_new line then begin
        print_string line;
        print_char '\n'
      end

(* {1 Steps} *)

(* What somebody writes to the first row: both columns or one of them, a column, nothing any more. The number of the write
   in the history is its value, or 0, or NULL. *)
let writes number values =
  let value = function `Own -> Int number | `Equal -> Int 0 | `Null -> Null in
  List.concat_map
    (fun v ->
      let v = value v in
      [ Whole (fun c -> if c = 1 then Some v else None);
        Whole (fun c -> if c = 1 || c = 2 then Some v else None);
        Cell (1, v); Cell (2, v) ])
    values
  @ [ Gone ]

let possible m k a =
  match (a, m.m_state.rows k) with
  | Whole _, None -> true
  | Whole _, Some x -> not (is_alive x.life)
  | (Gone | Cell _), Some x -> is_alive x.life
  | _ -> false

let after_write w number values times =
  let one r k time a =
    let m = !machines.(machine w r) in
    if not (possible m k a) then None
    else
      Option.map
        (fun m -> replace w r (number_of m))
        (machine_write no_shares columns r m k time a)
  in
  List.concat_map
    (fun r ->
      List.concat_map (fun t -> List.filter_map (one r 1 t) (writes number values)) times
      @
      if List.mem 2 !keys then
        (* The second row is there for the numbers: it is inserted, and written to. *)
        List.filter_map (one r 2 0)
          [ Whole (fun c -> if c = 1 then Some (Int number) else None); Cell (1, Int number) ]
      else [])
    replicas

(* What a replica has after a delivery from another one, of everything or of what it does not know. It depends on these two
   alone, so it is made once, and the merges in it are printed then. *)
let deliver s r ~everything =
  let sender = !machines.(s) and receiver = !machines.(r) in
  let known = receiver.m_state.known in
  let b = machine_export sender (if everything then fun _ -> 0 else known) in
  List.iter
    (fun k ->
      match told b k with
      | Some ch -> case (receiver.m_state.rows k) ch b.b_target known
      | None -> ())
    !keys;
  number_of (machine_apply no_shares columns receiver b !keys)

let deliveries = Numbers.map ()

let after_delivery w =
  List.concat_map
    (fun s ->
      List.concat_map
        (fun r ->
          if s = r then []
          else
            let s = machine w s and m = machine w r in
            List.map
              (fun everything ->
                let key = (((s lsl bits) lor m) lsl 1) lor Bool.to_int everything in
                let found = Numbers.find deliveries key in
                if found <> Numbers.free then replace w r found
                else begin
                  let n = deliver s m ~everything in
                  ignore (Numbers.add deliveries key n);
                  replace w r n
                end)
              [ true; false ])
        replicas)
    replicas

let worlds = Numbers.set ()

let tell () =
  Printf.eprintf "%d worlds of %d machines, %d deliveries, %d merges, %d different ones\n%!" worlds.count
    (Hashtbl.length numbers) deliveries.count !merges cases.count

(* How many writes were before follows from what each replica knows of itself. *)
let rec visit limit values times w number =
  if Numbers.add worlds w 0 then begin
    if worlds.count mod 10_000_000 = 0 then tell ();
    List.iter (fun next -> if next <> w then visit limit values times next number) (after_delivery w);
    if number <= limit then
      List.iter (fun w -> visit limit values times w (number + 1)) (after_write w number values times)
  end

let () =
  let limit = ref 3 and values = ref [ `Own; `Equal ] and times = ref [ 0; 50 ] in
  Arg.parse
    [ ("--writes", Arg.Set_int limit, "N  histories of up to N writes (3)");
      ( "--plain",
        Arg.Unit (fun () -> values := [ `Own ]; times := [ 0 ]),
        "  each value is another one, and all clocks are right" );
      ("--null", Arg.Unit (fun () -> values := [ `Own; `Equal; `Null ]), "  values can also be NULL");
      ("--one-row", Arg.Unit (fun () -> keys := [ 1 ]), "  without the second row") ]
    (fun text -> raise (Arg.Bad ("unknown argument " ^ text)))
    "enumerate [--writes N] [--plain | --null] [--one-row]";
  let start = number_of machine_start in
  visit !limit !values !times (List.fold_left (fun w r -> replace w r start) 0 replicas) 1;
  tell ()

(* Prints random histories for the oracle, the same for a seed: sample COUNT SEED. Rows are inserted with both columns, and
   times are whole milliseconds, so that the engine can run them too. One replica inserts a row, as with keys of time or
   chance: of others the engine re-issues deletions (HalfKnownDeletions), which the model does not. *)

open Model

let replicas = [ 1; 2; 3 ]
let keys = [ 1; 2 ]
let columns = [ 1; 2 ]
let no_shares _ = false

(* The model's maps are functions. Each step would look through all steps before it, so they become tables. *)
let table domain f =
  let entries = List.map (fun x -> (x, f x)) domain in
  fun x -> match List.assoc_opt x entries with Some y -> y | None -> f x

let tabulated m =
  let row x = { x with cells = table columns x.cells; values = table columns x.values } in
  let rows = table keys (fun k -> Option.map row (m.m_state.rows k)) in
  { m with m_state = { m.m_state with rows; known = table replicas m.m_state.known } }

let pick list = List.nth list (Random.int (List.length list))
let time () = pick [ 1; 2; 3; 3; 4; 9 ] * 65536
let value () = pick [ Int 1; Int 2; Int 3; Null ]
let shown_value = function Int n -> string_of_int n | _ -> "null"

let history () =
  let machines = Array.make 4 machine_start in
  let bundles = ref [] in
  let makers = List.map (fun k -> (k, pick replicas)) keys in
  let steps = ref [] in
  let say format = Printf.ksprintf (fun text -> steps := text :: !steps) format in
  let apply r b = machines.(r) <- tabulated (machine_apply no_shares columns machines.(r) b keys) in
  let write () =
    let k = pick keys and t = time () in
    let exists r = match machines.(r).m_state.rows k with Some x -> is_alive x.life | None -> false in
    let r = pick (List.assoc k makers :: List.filter exists replicas) in
    let m = machines.(r) in
    let a =
      match m.m_state.rows k with
      | Some x when is_alive x.life ->
          if Random.int 4 = 0 then (say "%d delete %d %d" r k t; Gone)
          else
            let c = pick columns in
            (* An update that changes nothing is none. *)
            let v = pick (List.filter (fun v -> Some v <> x.values c) [ Int 1; Int 2; Int 3; Null ]) in
            say "%d update %d %d %d=%s" r k t c (shown_value v);
            Cell (c, v)
      | _ ->
          let v = value () and w = value () in
          say "%d insert %d %d 1=%s 2=%s" r k t (shown_value v) (shown_value w);
          Whole (fun c -> if c = 1 then Some v else if c = 2 then Some w else None)
    in
    match machine_write no_shares columns r m k t a with
    | Some m -> machines.(r) <- tabulated m
    | None -> failwith "a write is refused, which a lemma excludes"
  in
  let sync () =
    let s = pick replicas in
    let r = pick (List.filter (( <> ) s) replicas) in
    say "sync %d %d" s r;
    apply r (machine_export machines.(s) machines.(r).m_state.known)
  in
  let export () =
    let s = pick replicas and name = Printf.sprintf "b%d" (List.length !bundles) in
    let base =
      if Random.bool () then (say "%d export %s" s name; fun _ -> 0)
      else
        let r = pick (List.filter (( <> ) s) replicas) in
        say "%d export %s beyond %d" s name r;
        machines.(r).m_state.known
    in
    bundles := (name, machine_export machines.(s) base) :: !bundles
  in
  let deliver () =
    match !bundles with
    | [] -> export ()
    | some ->
        let name, b = pick some in
        let r = pick replicas in
        if admits machines.(r) b replicas then (say "%d apply %s" r name; apply r b)
  in
  (* Twice around, so that each knows what the others know: then they can forget deletions. *)
  let gather () =
    List.iter
      (fun (s, r) ->
        say "sync %d %d" s r;
        apply r (machine_export machines.(s) machines.(r).m_state.known))
      [ (1, 2); (2, 3); (3, 1); (1, 2); (2, 3); (3, 1) ]
  in
  let kinds = if Random.bool () then 10 else 12 in
  for _ = 1 to 12 + Random.int 16 do
    match Random.int kinds with
    | 0 | 1 | 2 | 3 -> write ()
    | 4 | 5 | 6 | 7 -> sync ()
    | 8 -> export ()
    | 9 -> deliver ()
    | _ -> gather ()
  done;
  print_endline (String.concat "; " (List.rev !steps))

let () =
  match Sys.argv with
  | [| _; count; seed |] ->
      Random.init (int_of_string seed);
      for _ = 1 to int_of_string count do history () done
  | _ -> prerr_endline "usage: sample COUNT SEED"; exit 64

(* Reads one history a line and prints what every replica shows at its end. README.md beside it has the format. *)

open Model

let replicas = [ 1; 2; 3; 4; 5; 6; 7; 8; 9 ]
let keys = [ 1; 2; 3; 4; 5; 6; 7; 8; 9 ]
let columns = [ 1; 2; 3; 4; 5; 6; 7; 8; 9 ]
let no_shares _ = false

exception Wrong of string

let wrong format = Printf.ksprintf (fun text -> raise (Wrong text)) format

(* The model's maps are functions. Each step would look through all steps before it, so they become tables. *)
let table domain f =
  let entries = List.map (fun x -> (x, f x)) domain in
  fun x -> match List.assoc_opt x entries with Some y -> y | None -> f x

let row_table f =
  table keys (fun k ->
      Option.map (fun x -> { x with cells = table columns x.cells; values = table columns x.values }) (f k))

let tabulated m =
  let st = m.m_state in
  { m with
    m_state =
      { rows = row_table st.rows; known = table replicas st.known;
        journal = table keys (fun k -> table columns (st.journal k)) } }

(* {1 Reading} *)

let number text = match int_of_string_opt text with Some n -> n | None -> wrong "'%s' is no number" text
let one_of domain what n = if List.mem n domain then n else wrong "%d is no %s: there are 1 to 9" n what

let bytes text = List.init (String.length text) (fun i -> Char.code text.[i])

let value text =
  if text = "null" then Null
  else if text <> "" && text.[0] = '\'' then Text (bytes (String.sub text 1 (String.length text - 1)))
  else Int (number text)

let assignment text =
  match String.index_opt text '=' with
  | None -> wrong "'%s' assigns nothing: column=value" text
  | Some i ->
      let c = one_of columns "column" (number (String.sub text 0 i)) in
      (c, value (String.sub text (i + 1) (String.length text - i - 1)))

(* {1 Running} *)

type run = { machines : (int, machine) Hashtbl.t; bundles : (string, bundle) Hashtbl.t }

let machine run r = Option.value (Hashtbl.find_opt run.machines (one_of replicas "replica" r)) ~default:machine_start
let keep run r m = Hashtbl.replace run.machines r (tabulated m)

let write run r k time what =
  match machine_write no_shares columns r (machine run r) (one_of keys "key" k) time what with
  | Some m -> keep run r m
  | None -> wrong "replica %d has no such row to write to: %d" r k

let export run r base =
  let b = machine_export (machine run r) base in
  { b_rows = row_table b.b_rows; b_target = table replicas b.b_target; b_base = table replicas b.b_base }

let apply run r b =
  let m = machine run r in
  if not (admits m b replicas) then wrong "replica %d does not know what the bundle builds on" r;
  keep run r (machine_apply no_shares columns m b keys)

let step run words =
  match words with
  | [] -> ()
  | [ "sync"; a; b ] ->
      let a, b = (number a, number b) in
      apply run b (export run a (machine run b).m_state.known)
  | r :: "insert" :: k :: time :: cells ->
      let row = List.map assignment cells in
      write run (number r) (number k) (number time) (Whole (fun c -> List.assoc_opt c row))
  | [ r; "update"; k; time; cell ] ->
      let c, v = assignment cell in
      write run (number r) (number k) (number time) (Cell (c, v))
  | [ r; "delete"; k; time ] -> write run (number r) (number k) (number time) Gone
  | [ r; "export"; name ] -> Hashtbl.replace run.bundles name (export run (number r) (fun _ -> 0))
  | [ r; "export"; name; "beyond"; other ] ->
      Hashtbl.replace run.bundles name (export run (number r) (machine run (number other)).m_state.known)
  | [ r; "apply"; name ] -> (
      match Hashtbl.find_opt run.bundles name with
      | Some b -> apply run (number r) b
      | None -> wrong "there is no bundle '%s'" name)
  | _ -> wrong "'%s' is no step" (String.concat " " words)

(* {1 Printing} *)

let shown_stamp s = Printf.sprintf "%d@%d#%d" s.time s.replica s.sequence

let shown_value = function
  | Null -> "null"
  | Int n -> string_of_int n
  | Real n -> Printf.sprintf "real:%d" n
  | Text b -> "'" ^ String.init (List.length b) (fun i -> Char.chr (List.nth b i))
  | Blob b -> Printf.sprintf "blob:%d" (List.length b)

let some_of domain f = List.filter_map (fun x -> Option.map (fun y -> (x, y)) (f x)) domain

let shown_row (k, x) =
  let cell (c, v) = Printf.sprintf " %d=%s[%s]" c (shown_value v) (shown_stamp (stamp_of x c)) in
  Printf.sprintf "  row %d life %d base %s%s" k x.life (shown_stamp x.base)
    (String.concat "" (List.map cell (some_of columns x.values)))

let shown_losses st k c =
  List.map
    (fun ((life, s), v) -> Printf.sprintf "  lost %d.%d life %d %s[%s]" k c life (shown_value v) (shown_stamp s))
    (List.sort_uniq compare (st.journal k c))

let print run =
  let used = List.sort compare (Hashtbl.fold (fun r _ l -> r :: l) run.machines []) in
  List.iter
    (fun r ->
      let st = (machine run r).m_state in
      let known = List.filter (fun r -> st.known r > 0) replicas in
      Printf.printf "replica %d knows %s\n" r
        (String.concat " " (List.map (fun r -> Printf.sprintf "%d#%d" r (st.known r)) known));
      List.iter (fun row -> print_endline (shown_row row)) (some_of keys st.rows);
      List.iter (fun k -> List.iter (fun c -> List.iter print_endline (shown_losses st k c)) columns) keys)
    used

let () =
  try
    while true do
      let line = input_line stdin in
      let run = { machines = Hashtbl.create 9; bundles = Hashtbl.create 9 } in
      let words text = List.filter (fun w -> w <> "") (String.split_on_char ' ' text) in
      (try
         List.iter (fun text -> step run (words text)) (String.split_on_char ';' line);
         print run
       with Wrong text -> Printf.printf "wrong: %s\n" text);
      print_endline "end"
    done
  with End_of_file -> ()

(* Goes through all histories of a small scope and prints each merge of a row that occurs in them, once, with what comes
   of it. README.md beside it has the format and the scope. *)

open Model

let replicas = [ 1; 2; 3 ]
let keys = [ 1; 2 ]
let columns = [ 1; 2 ]
let no_shares _ = false

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

(* {1 Worlds} *)

type world = machine list

let shown_machine m =
  let st = m.m_state in
  let row k = match st.rows k with None -> "-" | Some x -> json_version x in
  Printf.sprintf "%d %s %s" m.m_clock (json_vector st.known) (String.concat " " (List.map row keys))

let shown (w : world) = String.concat "|" (List.map shown_machine w)

let machine w r = List.nth w (r - 1)
let replace w r m = List.mapi (fun i n -> if i = r - 1 then tabulated m else n) w

(* {1 Cases} *)

let cases : (string, unit) Hashtbl.t = Hashtbl.create 100_000
let worlds : (string, unit) Hashtbl.t = Hashtbl.create 1_000_000
let merges = ref 0

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
      if not (Hashtbl.mem cases line) then begin
        Hashtbl.add cases line ();
        print_endline line
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
    let m = machine w r in
    if not (possible m k a) then None
    else Option.map (replace w r) (machine_write no_shares columns r m k time a)
  in
  List.concat_map
    (fun r ->
      List.concat_map (fun t -> List.filter_map (one r 1 t) (writes number values)) times
      @
      (* The second row is there for the numbers: it is inserted, and written to. *)
      List.filter_map (one r 2 0)
        [ Whole (fun c -> if c = 1 then Some (Int number) else None); Cell (1, Int number) ])
    replicas

(* Everything, or what the receiver does not know. *)
let after_delivery w =
  List.concat_map
    (fun s ->
      List.concat_map
        (fun r ->
          if s = r then []
          else
            let sender = machine w s and receiver = machine w r in
            let known = receiver.m_state.known in
            List.map
              (fun base ->
                let b = machine_export sender base in
                List.iter
                  (fun k ->
                    match told b k with
                    | Some ch -> case (receiver.m_state.rows k) ch b.b_target known
                    | None -> ())
                  keys;
                replace w r (machine_apply no_shares columns receiver b keys))
              [ (fun _ -> 0); known ])
        replicas)
    replicas

(* Renaming replicas changes who wins between stamps of one time, so only the empty replicas are alike: the first write is
   of replica 1 or 2, and the order of who begins is kept. *)
let rec visit limit values times w number =
  let key = shown w ^ "#" ^ string_of_int number in
  if not (Hashtbl.mem worlds key) then begin
    Hashtbl.add worlds key ();
    List.iter (fun w -> visit limit values times w number) (after_delivery w);
    if number <= limit then
      List.iter (fun w -> visit limit values times w (number + 1)) (after_write w number values times)
  end

let () =
  let limit = ref 3 and values = ref [ `Own; `Equal ] and times = ref [ 0; 50 ] in
  Arg.parse
    [ ("--writes", Arg.Set_int limit, "N  histories of up to N writes (3)");
      ("--plain", Arg.Unit (fun () -> values := [ `Own ]; times := [ 0 ]), "  each value is another one, and all clocks are right");
      ("--null", Arg.Unit (fun () -> values := [ `Own; `Equal; `Null ]), "  values can also be NULL") ]
    (fun text -> raise (Arg.Bad ("unknown argument " ^ text)))
    "enumerate [--writes N] [--plain | --null]";
  visit !limit !values !times [ machine_start; machine_start; machine_start ] 1;
  Printf.eprintf "%d worlds, %d merges, %d different ones\n" (Hashtbl.length worlds) !merges (Hashtbl.length cases)

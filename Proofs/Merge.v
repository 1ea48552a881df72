(** [Merge.plan], line by line: Sources/SyncEngine/Rules/Merge/Merge.swift. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row.
Local Open Scope Z_scope.

(** * Plans: [MergePlan] in RowVersion.swift *)

Inductive action := Keep | Insert | Update | Delete | Replace.

Inductive reason := Newer | Deleted | RestOfRow.

Record conflict := { lost : value; lost_stamp : stamp; winner : stamp; why : reason }.

Record plan := {
  p_action : action;
  p_life : Z;
  p_base : stamp;
  p_cells : column -> option stamp;
  p_writes : column -> option value;
  p_resets : column -> bool;
  p_conflicts : column -> option conflict;
  p_lost_life : Z }.

Definition no {A : Type} : column -> option A := fun _ => None.

Definition no_resets : column -> bool := fun _ => false.

(** * One column: the loop in [Merge.mergeColumns] *)

Record outcome := {
  o_cell : option stamp;
  o_write : option value;
  o_reset : bool;
  o_conflict : option conflict }.

Definition untouched : outcome := {| o_cell := None; o_write := None; o_reset := false; o_conflict := None |}.

(** [if winner != base { plan.cells[column] = winner }] *)
Definition cell_beside (base winner : stamp) : option stamp := if stamp_eq winner base then None else Some winner.

Definition has {A : Type} (o : option A) : bool := match o with Some _ => true | None => false end.

Definition value_or_null (o : option value) : value := match o with Some v => v | None => Null end.

Definition is_eq (c : comparison) : bool := match c with Eq => true | _ => false end.
Definition is_gt (c : comparison) : bool := match c with Gt => true | _ => false end.

(** [Merge.reset] *)
Definition reset (local : version) (c : column) (to : stamp) (peer : vector) : outcome :=
  match values local c with
  | None => untouched
  | Some v =>
      let own := stamp_of local c in
      {| o_cell := None; o_write := None; o_reset := true;
         o_conflict :=
           if is_eq (compare_values v Null) || contains peer own then None
           else Some {| lost := v; lost_stamp := own; winner := to; why := Newer |} |}
  end.

Definition is_newer_base (incoming : change) (own : stamp) : bool :=
  match c_base incoming with Some b => is_newer b own | None => false end.

Definition merge_column (separate : column -> bool) (local : version) (incoming : change)
  (peer known : vector) (new_base : stamp) (c : column) : outcome :=
  let own := stamp_of local c in
  let own_value := value_or_null (values local c) in
  match c_writes incoming c with
  | None =>
      if has (values local c) || has (cells local c) then
        if negb (separate c) && is_newer_base incoming own then
          match c_base incoming with Some b => reset local c b peer | None => untouched end
        else {| o_cell := cell_beside new_base own; o_write := None; o_reset := false; o_conflict := None |}
      else untouched
  | Some (s, v) =>
      let order := compare_values v own_value in
      let is_unknown := negb (has (values local c)) && negb (has (cells local c)) in
      let is_newer_write := is_newer s own || (is_unknown && (separate c || negb (is_newer own s))) in
      let is_same_moment := negb is_newer_write && negb (is_newer own s) in
      let wins := is_newer_write || (is_same_moment && is_gt order) in
      let winner :=
        if is_same_moment && is_eq order then newest own (Some s) else if wins then s else own in
      let is_concurrent := if wins then negb (contains peer own) else negb (contains known s) in
      let loses_nothing := wins && is_unknown in
      {| o_cell := cell_beside new_base winner;
         o_write := if wins && (negb (is_eq order) || is_unknown) then Some v else None;
         o_reset := false;
         o_conflict :=
           if negb (is_eq order) && negb loses_nothing
              && (if is_same_moment then negb is_unknown else is_concurrent)
           then Some {| lost := if wins then own_value else v; lost_stamp := if wins then own else s;
                        winner := winner; why := Newer |}
           else None |}
  end.

(** * The rows *)

(** [Merge.begin] *)
Definition begin (incoming : change) : option plan :=
  match c_base incoming with
  | None => None
  | Some b =>
      let alive := is_alive (c_life incoming) in
      Some {| p_action := if alive then Insert else Keep;
              p_life := c_life incoming; p_base := b;
              p_cells := fun c =>
                if alive then match c_writes incoming c with Some (s, _) => cell_beside b s | None => None end
                else None;
              p_writes := fun c => if alive then option_map snd (c_writes incoming c) else None;
              p_resets := no_resets; p_conflicts := no; p_lost_life := 0 |}
  end.

(** [Merge.outlive]. The code drops the conflicts when all of them are the rest of a row. Here they stay, and do not
    count ([journaled] in World.v). *)
Definition outlive (local : version) (incoming : change) (peer : vector) : option plan :=
  match begin incoming with
  | None => None
  | Some p =>
      if is_alive (life local) then
        Some {| p_action := if is_alive (c_life incoming) then Replace else Delete;
                p_life := p_life p; p_base := p_base p; p_cells := p_cells p; p_writes := p_writes p;
                p_resets := no_resets;
                p_conflicts := fun c =>
                  match values local c with
                  | None => None
                  | Some v =>
                      let s := stamp_of local c in
                      Some {| lost := v; lost_stamp := s; winner := p_base p;
                              why := if contains peer s && negb (is_newer s (p_base p))
                                     then RestOfRow else Deleted |}
                  end;
                p_lost_life := life local |}
      else Some p
  end.

(** [Merge.discard] *)
Definition discard (local : version) (incoming : change) (known : vector) : plan :=
  {| p_action := Keep; p_life := life local; p_base := base local; p_cells := cells local;
     p_writes := no; p_resets := no_resets;
     p_conflicts := fun c =>
       match c_writes incoming c with
       | Some (s, v) =>
           if contains known s then None
           else Some {| lost := v; lost_stamp := s; winner := base local; why := Deleted |}
       | None => None
       end;
     p_lost_life := c_life incoming |}.

(** [Merge.mergeDeletes] *)
Definition merge_deletes (local : version) (incoming : change) : plan :=
  {| p_action := Keep; p_life := life local; p_base := newest (base local) (c_base incoming);
     p_cells := no; p_writes := no; p_resets := no_resets; p_conflicts := no; p_lost_life := 0 |}.

(** [Merge.mergeColumns]. Whether something is written follows from the columns: [Update] stands for both. *)
Definition merge_columns (separate : column -> bool) (local : version) (incoming : change)
  (peer known : vector) : plan :=
  let b := newest (base local) (c_base incoming) in
  let o := merge_column separate local incoming peer known b in
  {| p_action := Update; p_life := life local; p_base := b;
     p_cells := fun c => o_cell (o c); p_writes := fun c => o_write (o c);
     p_resets := fun c => o_reset (o c); p_conflicts := fun c => o_conflict (o c);
     p_lost_life := life local |}.

(** [Merge.plan] *)
Definition plan_merge (separate : column -> bool) (local : option version) (incoming : change)
  (peer known : vector) : option plan :=
  match local with
  | None => begin incoming
  | Some local =>
      if life local <? c_life incoming then outlive local incoming peer
      else if c_life incoming <? life local then Some (discard local incoming known)
      else if negb (is_alive (c_life incoming)) then Some (merge_deletes local incoming)
      else Some (merge_columns separate local incoming peer known)
  end.

(** * What a plan makes of a row: [RowWriter.carryOut] and [VersionTable.store] *)

Definition old_values (local : option version) : column -> option value :=
  match local with Some x => values x | None => no end.

Definition carry_out (local : option version) (p : plan) : version :=
  {| life := p_life p; base := p_base p; cells := p_cells p;
     values := fun c =>
       match p_action p with
       | Insert | Replace => p_writes p c
       | Delete => None
       | Keep => old_values local c
       | Update =>
           match p_writes p c with
           | Some v => Some v
           | None => if p_resets p c then None else old_values local c
           end
       end |}.

(** A change, merged into a row. *)
Definition apply_change (separate : column -> bool) (local : option version) (incoming : change)
  (peer known : vector) : option version :=
  option_map (carry_out local) (plan_merge separate local incoming peer known).

(** Two versions, merged. What the replicas know decides on the journal only, and there is always a plan
    ([merge_is_total] in Laws.v). *)
Definition merge (separate : column -> bool) (x y : version) : version :=
  match apply_change separate (Some x) (all_of y) nothing nothing with Some z => z | None => x end.

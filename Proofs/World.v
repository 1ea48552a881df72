(** Replicas that write, fold, export and apply.

    A replica has rows, a vector and a journal. Whatever was exported may arrive anywhere, at any time, in any order,
    never or more than once. Nothing is assumed of clocks: a write may have any time that the fold gives, which is above
    what it replaces in the same life. The model has neither forgotten deletions (Floors.v) nor chosen rows
    (Partial.v), and no two files under one identity. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Import ListNotations.
Local Open Scope Z_scope.

Definition key := Z.

(** * Writes, as the fold gives them versions: Sources/SyncEngine/Capture/Fold *)

Inductive what :=
  | Whole (row : column -> option value)   (* an insertion, or a replacement: [VersionTable.foldWholeRows] *)
  | Gone                                   (* a deletion, perhaps re-issued (HalfKnownDeletions) *)
  | Cell (c : column) (v : value).         (* an update of a column: [VersionTable.foldCells] *)

Record write := {
  w_key : key;
  w_life : Z;
  w_stamp : stamp;
  w_what : what;
  w_knew : vector }. (* what its replica knew before it *)

Record state := {
  rows : key -> option version;
  known : vector;
  journal : key -> column -> list (Z * stamp * value) }. (* the life, and what lost *)

Definition life_of (row : option version) : Z := match row with Some x => life x | None => 0 end.

Section World.
  Variable separate : column -> bool.

  Definition set {A : Type} (f : Z -> A) (k : Z) (a : A) : Z -> A := fun k' => if k' =? k then a else f k'.

  Definition inserted (l : Z) (s : stamp) (row : column -> option value) : version :=
    {| life := l; base := s; cells := no; values := fun c => if separate c then None else row c |}.

  Definition deleted (l : Z) (s : stamp) : version := {| life := l; base := s; cells := no; values := no |}.

  Definition updated (x : version) (c : column) (s : stamp) (v : value) : version :=
    {| life := life x; base := base x; cells := set (cells x) c (Some s); values := set (values x) c (Some v) |}.

  (** The row after a write, or nothing when the fold gives no such stamp. A new life is a later one, odd for a row that
      exists. Within a life the stamp is above the row's and the column's ([max(..., r.hlc + 1, c.hlc + 1)]). A
      deletion of a row that is gone is one of the same life, re-issued. A row that was never here can't be deleted. *)
  Definition write_row (row : option version) (l : Z) (s : stamp) (a : what) : option version :=
    match a with
    | Whole f => if is_alive l && (life_of row <? l) then Some (inserted l s f) else None
    | Gone =>
        match row with
        | Some x =>
            if negb (is_alive l) && ((life x <? l) || ((life x =? l) && is_newer s (base x)))
            then Some (deleted l s) else None
        | None => None
        end
    | Cell c v =>
        match row with
        | Some x =>
            if is_alive l && (life x =? l) && is_newer s (base x) && is_newer s (stamp_of x c)
            then Some (updated x c s v) else None
        | None => None
        end
    end.

  (** A write of a replica, and its fold: the number of the change is the next one, and the vector covers it. *)
  Definition perform (me : Z) (st : state) (k : key) (l t : Z) (a : what) : option (state * write) :=
    let s := {| time := t; replica := me; sequence := known st me + 1 |} in
    match write_row (rows st k) l s a with
    | None => None
    | Some x =>
        Some ({| rows := set (rows st) k (Some x); known := set (known st) me (known st me + 1);
                 journal := journal st |},
              {| w_key := k; w_life := l; w_stamp := s; w_what := a; w_knew := known st |})
    end.

  (** * Bundles *)

  (** A snapshot of the sender, and the vector beyond which it is told. Its target is the sender's vector. *)
  Record bundle := { b_rows : key -> option version; b_target : vector; b_base : vector }.

  (** What a bundle tells of a row. *)
  Definition told (m : bundle) (k : key) : option change :=
    match b_rows m k with Some x => export (b_base m) x | None => None end.

  Definition applied_row (st : state) (m : bundle) (k : key) : option version :=
    match receive separate (rows st k) (told m k) (b_target m) (known st) with
    | Some row => row
    | None => rows st k
    end.

  (** What a plan keeps of a column. The rest of a row, which the code keeps beside what was lost of it, does not
      count here. *)
  Definition journaled (p : plan) (c : column) : list (Z * stamp * value) :=
    match p_conflicts p c with
    | Some f => match why f with RestOfRow => [] | _ => [(p_lost_life p, lost_stamp f, lost f)] end
    | None => []
    end.

  Definition lost_here (st : state) (m : bundle) (k : key) (c : column) : list (Z * stamp * value) :=
    match told m k with
    | Some ch =>
        match plan_merge separate (rows st k) ch (b_target m) (known st) with
        | Some p => journaled p c
        | None => []
        end
    | None => []
    end.

  (** [BundleApplier]: all of a bundle, in one transaction, with the vector and the journal. *)
  Definition apply (st : state) (m : bundle) : state :=
    {| rows := applied_row st m; known := join (known st) (b_target m);
       journal := fun k c => journal st k c ++ lost_here st m k c |}.

  (** * Histories *)

  Record world := { replicas : Z -> state; history : list write; bundles : list bundle }.

  Definition empty : state := {| rows := no; known := nothing; journal := fun _ _ => [] |}.

  Definition start : world := {| replicas := fun _ => empty; history := []; bundles := [] |}.

  Inductive step : world -> world -> Prop :=
    | Written w r k l t a st e :
        perform r (replicas w r) k l t a = Some (st, e) ->
        step w {| replicas := set (replicas w) r st; history := e :: history w; bundles := bundles w |}
    (** Anybody may say that he knows anything: the receiver has to know it, see [Applied]. *)
    | Exported w r base :
        step w {| replicas := replicas w; history := history w;
                  bundles := {| b_rows := rows (replicas w r); b_target := known (replicas w r); b_base := base |}
                             :: bundles w |}
    (** [BundleAdmission]: the receiver knows what the bundle builds on. *)
    | Applied w r m :
        In m (bundles w) -> covers (known (replicas w r)) (b_base m) ->
        step w {| replicas := set (replicas w) r (apply (replicas w r) m);
                  history := history w; bundles := bundles w |}.

  Inductive reachable : world -> Prop :=
    | Started : reachable start
    | Stepped w w' : reachable w -> step w w' -> reachable w'.
End World.

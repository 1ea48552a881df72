(** Histories that can be computed: that the theorems are about something, and what does not hold. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Export CipherStoreProofs.World.
Require Import CipherStoreProofs.Extremes.
Import ListNotations.
Local Open Scope Z_scope.

Definition no_shares : column -> bool := fun _ => false.

Definition one_column (v : value) : column -> option value := fun c => if c =? 1 then Some v else None.

Definition run_write (w : world) (r k l t : Z) (a : what) : world :=
  match perform no_shares r (replicas w r) k l t a with
  | Some (st, e) => {| replicas := set (replicas w) r st; history := e :: history w; bundles := bundles w |}
  | None => w
  end.

Definition run_sync (w : world) (from to : Z) : world :=
  let m := {| b_rows := rows (replicas w from); b_target := known (replicas w from);
              b_base := known (replicas w to) |} in
  {| replicas := set (replicas w) to (apply no_shares (replicas w to) m); history := history w;
     bundles := m :: bundles w |}.

Lemma run_write_reachable w r k l t a : reachable no_shares w -> reachable no_shares (run_write w r k l t a).
Proof.
  intros R. unfold run_write. destruct (perform no_shares r (replicas w r) k l t a) as [[st e]|] eqn:P; [|exact R].
  eapply Stepped; [exact R | eapply Written; exact P].
Qed.

Lemma run_sync_reachable w from to : reachable no_shares w -> reachable no_shares (run_sync w from to).
Proof.
  intros R. unfold run_sync. eapply Stepped; [eapply Stepped; [exact R | apply (Exported no_shares w from (known (replicas w to)))] |].
  eapply (Applied no_shares {| replicas := replicas w; history := history w; bundles := _ :: bundles w |}).
  - left. reflexivity.
  - apply covers_refl.
Qed.

(** Replica 1 inserts a row; both write its column, and replica 1 deletes another row that replica 2 edits meanwhile. *)
Definition apart : world :=
  let w := run_write start 1 7 1 100 (Whole (one_column (Int 10))) in
  let w := run_write w 1 8 1 101 (Whole (one_column (Int 20))) in
  let w := run_sync w 1 2 in
  let w := run_write w 1 7 1 200 (Cell 1 (Int 11)) in
  let w := run_write w 2 7 1 201 (Cell 1 (Int 12)) in
  let w := run_write w 1 8 2 300 Gone in
  run_write w 2 8 1 301 (Cell 1 (Int 21)).

Definition together : world := run_sync (run_sync apart 1 2) 2 1.

(** They meet, and know the same. *)
Example they_meet :
  reachable no_shares together /\
  map (known (replicas together 1)) [1; 2; 3] = [4; 2; 0] /\ map (known (replicas together 2)) [1; 2; 3] = [4; 2; 0].
Proof.
  split; [|split; vm_compute; reflexivity].
  unfold together. do 2 apply run_sync_reachable. unfold apart. do 4 apply run_write_reachable.
  apply run_sync_reachable. do 2 apply run_write_reachable. exact (Started no_shares).
Qed.

Definition shown (w : world) (r k c : Z) : option value :=
  match rows (replicas w r) k with Some x => values x c | None => None end.

(** The later write stands at both, and what lost is in replica 2's journal: the other value of the column, and the edit
    of the row that was deleted. *)
Example they_show_the_same :
  shown together 1 7 1 = Some (Int 12) /\ shown together 2 7 1 = Some (Int 12) /\
  life_of (rows (replicas together 1) 8) = 2 /\ life_of (rows (replicas together 2) 8) = 2 /\
  map snd (journal (replicas together 2) 7 1) = [Int 11] /\ map snd (journal (replicas together 2) 8 1) = [Int 21].
Proof. repeat split; vm_compute; reflexivity. Qed.

(** * What does not hold *)

(** [CustomMerges]: of two values of which one did not know the other one, under the policy max. *)
Definition under_max (older newer : Z) : value :=
  stands (fun v => match v with Int n => n | _ => 0 end) (fun _ => false) true (Int older) (Int newer).

(** Which values meet depends on the order of bundles. Somebody writes 10; somebody who sees it writes 3; somebody who
    knows neither writes 7 in between. Where the 3 meets the 7, the 7 stands. Where the 10 meets the 7 first, the 10 is
    written again, as an edit that knew both and not the 3: where that meets the 3, the 10 stands, which 3 had replaced. *)
Example max_depends_on_who_meets : under_max 7 3 = Int 7 /\ under_max 3 (match under_max 10 7 with Int n => n | _ => 0 end) = Int 10.
Proof. split; reflexivity. Qed.

(** * Why known writes are left out *)

(** A row of life 1 that was inserted after a deletion was forgotten, and a value that somebody wrote to the former row,
    in a bundle without the base. The value is of a later time, because its writer's clock was ahead. *)
Definition reinserted : version :=
  {| life := 1; base := {| time := 300; replica := 1; sequence := 3 |}; cells := no;
     values := one_column (Text [110; 101; 119]) |}.

Definition late_change (l : Z) (writes : column -> option (stamp * value)) : change :=
  {| c_life := l; c_base := None; c_writes := writes |}.

Definition late_writes (c : column) : option (stamp * value) :=
  if c =? 1 then Some ({| time := 10000; replica := 2; sequence := 1 |}, Text [111; 108; 100]) else None.

(** Nothing tells the two lives apart, so the value would be taken for one of the row that is there. *)
Example a_late_value_would_meet_another_row :
  option_map (fun x => values x 1) (apply_change no_shares (Some reinserted) (late_change 1 late_writes) nothing nothing)
    = Some (Some (Text [111; 108; 100])).
Proof. vm_compute. reflexivity. Qed.

(** If the former row was of a later life, the whole bundle would be refused, because the row's beginning seems to be
    missing. *)
Example a_late_bundle_would_be_refused :
  plan_merge no_shares (Some reinserted) (late_change 3 late_writes) nothing nothing = None.
Proof. vm_compute. reflexivity. Qed.

(** Without what the receiver knows, nothing is left to merge. *)
Example a_late_value_is_left_out :
  option_map (fun x => values x 1) (apply_change no_shares (Some reinserted) (late_change 1 no) nothing nothing)
    = Some (Some (Text [110; 101; 119])).
Proof. vm_compute. reflexivity. Qed.

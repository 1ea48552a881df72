(** The model as a program: what Scripts/prove makes of it says of a history what every replica shows.

    It runs the functions that the theorems are about ([perform], [apply]). What is added here is what they leave open:
    the life and the time that the fold gives to a write, and the clock. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Export CipherStoreProofs.World.
Import ListNotations.
Local Open Scope Z_scope.

Record machine := { m_state : state; m_clock : Z }.

Definition machine_start : machine := {| m_state := empty; m_clock := 0 |}.

Section Oracle.
  Variables (separate : column -> bool) (columns : list column).

  (** [VersionTable.life]: of a row that is inserted or deleted once between two folds. *)
  Definition next_life (row : option version) (a : what) : Z :=
    match a, row with
    | Whole _, None => 1
    | Whole _, Some x => if is_alive (life x) then life x + 2 else life x + 1
    | Gone, Some x => if is_alive (life x) then life x + 1 else life x
    | _, _ => life_of row
    end.

  (** [VersionTable.turnedStamp], and the stamps of [foldCells]. *)
  Definition time_above (row : option version) (a : what) : Z :=
    match row with
    | None => 0
    | Some x =>
        match a with
        | Cell c _ => Z.max (time (base x) + 1) (time (stamp_of x c) + 1)
        | _ => fold_right (fun c t => Z.max t (time (stamp_of x c) + 1)) (time (base x) + 1) columns
        end
    end.

  (** [StampRule.sql]: above the clock, and above what is replaced. *)
  Definition fold_time (clock t : Z) (row : option version) (a : what) : Z :=
    Z.max (Z.max (clock + 1) t) (time_above row a).

  (** A write at a time, and its fold. *)
  Definition machine_write (me : Z) (m : machine) (k t : Z) (a : what) : option machine :=
    let row := rows (m_state m) k in
    let at_time := fold_time (m_clock m) t row a in
    match perform separate me (m_state m) k (next_life row a) at_time a with
    | Some (st, _) => Some {| m_state := st; m_clock := Z.max (m_clock m) at_time |}
    | None => None
    end.

  Definition machine_export (m : machine) (base : vector) : bundle :=
    {| b_rows := rows (m_state m); b_target := known (m_state m); b_base := base |}.

  (** The newest stamp that a bundle tells of some keys. *)
  Definition newest_told (b : bundle) (keys : list key) : Z :=
    fold_right (fun k t =>
      match told b k with
      | Some ch =>
          fold_right (fun c t =>
            match c_writes ch c with Some (s, _) => Z.max t (time s) | None => t end)
            (match c_base ch with Some s => Z.max t (time s) | None => t end) columns
      | None => t
      end) 0 keys.

  (** Whether a bundle is admitted, of replicas that are listed. *)
  Definition admits (m : machine) (b : bundle) (replicas : list Z) : bool :=
    forallb (fun r => b_base b r <=? known (m_state m) r) replicas.

  Definition machine_apply (m : machine) (b : bundle) (keys : list key) : machine :=
    {| m_state := apply separate (m_state m) b; m_clock := Z.max (m_clock m) (newest_told b keys) |}.

  (** The stamps that the fold gives are such that the write is never refused where a program can make it: an insertion
      anywhere, an update of a row that exists, a deletion of one that was here. *)
  Lemma a_program_can_write me m k t a :
    match a with
    | Whole _ => 0 <= life_of (rows (m_state m) k)
    | Gone => exists x, rows (m_state m) k = Some x
    | Cell _ _ => exists x, rows (m_state m) k = Some x /\ is_alive (life x) = true
    end -> machine_write me m k t a <> None.
  Proof.
    intros H. unfold machine_write, perform.
    set (s := {| time := fold_time (m_clock m) t (rows (m_state m) k) a; replica := me;
                 sequence := known (m_state m) me + 1 |}).
    assert (Newer : forall u, time u < time s -> is_newer s u = true).
    { intros u L. apply newer_lt. unfold compare_moments, lex, moment; simpl. simpl in L.
      rewrite (proj2 (Z.compare_lt_iff _ _) L). reflexivity. }
    assert (Even : forall l, is_alive (l + 1) = negb (is_alive l)) by (intros l; unfold is_alive; rewrite Z.odd_add; destruct (Z.odd l); reflexivity).
    destruct (write_row separate (rows (m_state m) k) (next_life (rows (m_state m) k) a) s a) as [z|] eqn:E;
      [discriminate|]. exfalso. unfold write_row in E. destruct a as [f| |c v]; simpl in E.
    - destruct (rows (m_state m) k) as [x|]; simpl in E, H; [|discriminate].
      destruct (is_alive (life x)) eqn:A.
      + replace (life x + 2) with (life x + 1 + 1) in E by lia. rewrite !Even, A in E. simpl in E.
        destruct (Z.ltb_spec (life x) (life x + 1 + 1)); [discriminate | lia].
      + rewrite Even, A in E. simpl in E. destruct (Z.ltb_spec (life x) (life x + 1)); [discriminate | lia].
    - destruct H as [x X]. rewrite X in *. destruct (is_alive (life x)) eqn:A.
      + rewrite Even, A in E. simpl in E. destruct (Z.ltb_spec (life x) (life x + 1)); [discriminate | lia].
      + rewrite A in E. simpl in E. rewrite Z.eqb_refl in E. rewrite Newer in E; [rewrite orb_true_r in E; discriminate|].
        unfold s, fold_time, time_above; cbn [time]; rewrite ?X.
        assert (F : forall l, time (base x) + 1 <= fold_right (fun c t => Z.max t (time (stamp_of x c) + 1)) (time (base x) + 1) l)
          by (induction l as [|c l IH]; cbn [fold_right]; [lia | eapply Z.le_trans; [exact IH | apply Z.le_max_l]]).
        specialize (F columns). lia.
    - destruct H as [x [X A]]. rewrite X in *. simpl in E. rewrite A, Z.eqb_refl in E. simpl in E.
      rewrite !Newer in E; [discriminate | |]; unfold s, fold_time, time_above; cbn [time]; rewrite ?X; lia.
  Qed.
End Oracle.

Require Import ExtrOcamlBasic ExtrOcamlZInt.
Extraction Language OCaml.
Extraction "model.ml" machine_start machine_write machine_export machine_apply admits stamp_of is_alive.

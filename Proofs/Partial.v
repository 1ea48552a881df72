(** Replicas that exchange some tables only: a vector for all tables, and for single tables what goes beyond it.

    [Coverage] in Sources/SyncEngine/Ledger/Scope/Coverage.swift. A bundle of some tables has a base and a target for
    each of them and leaves the vector of all tables alone; a bundle of all tables moves it. Tables of which some rows
    are held (PartialTable.swift) are not here. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant CipherStoreProofs.Steps.
Import ListNotations.
Local Open Scope Z_scope.

Definition table := Z.

Record holder := {
  t_rows : table -> key -> option version;
  whole : vector;            (* [Coverage.whole.known] *)
  part : table -> vector }.  (* _sync_coverage.oseq *)

(** [Coverage.subscript]: what a replica says that it knows of a table. *)
Definition claims (h : holder) (t : table) : vector := join (whole h) (part h t).

Record tables_bundle := {
  m_has : table -> bool;
  m_rows : table -> key -> option version;
  m_base : table -> vector;
  m_target : table -> vector;
  m_whole : vector }. (* the header's target; nothing in a bundle of some tables *)

Definition set_table {A : Type} (f : table -> A) (t : table) (a : A) : table -> A := set f t a.

Record tables_world := {
  holders : Z -> holder;
  written_to : table -> list write;
  on_the_way : list tables_bundle }.

Section Partial.
  Variable separate : column -> bool.

  Local Notation sound := (sound separate).

  (** One table of a replica, and of a bundle, as if it were a database of its own. *)
  Definition as_state (h : holder) (t : table) : state :=
    {| rows := t_rows h t; known := claims h t; journal := fun _ _ => [] |}.

  Definition as_bundle (m : tables_bundle) (t : table) : bundle :=
    {| b_rows := m_rows m t; b_target := m_target m t; b_base := m_base m t |}.

  Definition write_table (h : holder) (t : table) (me : Z) (st : state) : holder :=
    {| t_rows := set_table (t_rows h) t (rows st); whole := set (whole h) me (whole h me + 1); part := part h |}.

  (** [AppliedParts.conclude], and [ReplicaRegister.raise] for the header's target. *)
  Definition apply_tables (h : holder) (m : tables_bundle) : holder :=
    {| t_rows := fun t => if m_has m t then applied_row separate (as_state h t) (as_bundle m t) else t_rows h t;
       whole := join (whole h) (m_whole m);
       part := fun t => if m_has m t then join (part h t) (m_target m t) else part h t |}.

  Inductive tables_step : tables_world -> tables_world -> Prop :=
    | Table_written w r t k l time a st e :
        perform separate r (as_state (holders w r) t) k l time a = Some (st, e) ->
        tables_step w
          {| holders := set (holders w) r (write_table (holders w r) t r st);
             written_to := set_table (written_to w) t (e :: written_to w t); on_the_way := on_the_way w |}
    | Some_exported w r has base :
        tables_step w
          {| holders := holders w; written_to := written_to w;
             on_the_way := {| m_has := has; m_rows := t_rows (holders w r); m_base := base;
                              m_target := claims (holders w r); m_whole := nothing |} :: on_the_way w |}
    | All_exported w r base :
        tables_step w
          {| holders := holders w; written_to := written_to w;
             on_the_way := {| m_has := fun _ => true; m_rows := t_rows (holders w r); m_base := base;
                              m_target := claims (holders w r); m_whole := whole (holders w r) |} :: on_the_way w |}
    | Tables_applied w r m :
        In m (on_the_way w) -> (forall t, m_has m t = true -> covers (claims (holders w r) t) (m_base m t)) ->
        tables_step w
          {| holders := set (holders w) r (apply_tables (holders w r) m); written_to := written_to w;
             on_the_way := on_the_way w |}.

  Definition tables_start : tables_world :=
    {| holders := fun _ => {| t_rows := fun _ => no; whole := nothing; part := fun _ => nothing |};
       written_to := fun _ => []; on_the_way := [] |}.

  Inductive tables_reachable : tables_world -> Prop :=
    | Tables_started : tables_reachable tables_start
    | Tables_stepped w w' : tables_reachable w -> tables_step w w' -> tables_reachable w'.

  (** What a vector covers of the past decides, not the vector. *)
  Lemma sound_covers past view v v' :
    sound past view v -> covers v' v ->
    (forall w, In w past -> contains v' (w_stamp w) = true -> contains v (w_stamp w) = true) -> sound past view v'.
  Proof.
    intros S Up Down.
    assert (T : forall w k x, takes_part past v w k x -> takes_part past v' w k x).
    { intros w k x [I [C K]]. split; [exact I|]. split; [eapply contains_covers; eauto | exact K]. }
    split.
    - apply (versions _ _ _ _ S).
    - intros k x X. destruct (base_is_written _ _ _ _ S k x X) as [w [H1 H2]]. eauto.
    - intros k x c a X V. destruct (value_is_written _ _ _ _ S k x c a X V) as [w [H1 H2]]. eauto.
    - intros w I C. apply (writes_are_there _ _ _ _ S); auto.
  Qed.

  Record tables_invariant (w : tables_world) : Prop := {
    holders_sound : forall r t, sound (written_to w t) (t_rows (holders w r) t) (claims (holders w r) t);
    tables_sound : forall m t, In m (on_the_way w) -> m_has m t = true ->
      sound (written_to w t) (m_rows m t) (m_target m t);
    all_or_nothing : forall m, In m (on_the_way w) ->
      (forall t, m_has m t = true /\ covers (m_target m t) (m_whole m)) \/ m_whole m = nothing;
    table_numbers : forall t e, In e (written_to w t) ->
      sequence (w_stamp e) <= whole (holders w (replica (w_stamp e))) (replica (w_stamp e));
    claims_given : forall r t r', claims (holders w r) t r' <= whole (holders w r') r';
    claims_told : forall m t r', In m (on_the_way w) ->
      m_target m t r' <= whole (holders w r') r' /\ m_whole m r' <= whole (holders w r') r';
    no_less_than_nothing : forall r r', 0 <= whole (holders w r) r' }.

  Lemma tables_step_invariant w w' : tables_invariant w -> tables_step w w' -> tables_invariant w'.
  Proof.
    intros I S. destruct S as [w r t k l time a st e P | w r has base | w r base | w r m M C].
    - set (n := whole (holders w r) r).
      assert (N : claims (holders w r) t r = n).
      { unfold claims, join, n. pose proof (claims_given _ I r t r). unfold claims, join in H. lia. }
      assert (E : w_stamp e = {| time := time; replica := r; sequence := n + 1 |} /\
                  known st = set (claims (holders w r) t) r (n + 1)).
      { unfold perform in P. simpl in P. rewrite N in P. destruct (write_row _ _ _ _ _); [|discriminate].
        injection P; intros <- <-. simpl. rewrite ?N. auto. }
      destruct E as [Es Ek].
      assert (Unknown : forall v, v r <= n -> contains v (w_stamp e) = false).
      { intros v L. unfold contains. rewrite Es; simpl. apply Z.leb_gt. lia. }
      assert (More : forall t' r', claims (write_table (holders w r) t r st) t' r'
                = if r' =? r then Z.max (n + 1) (part (holders w r) t' r) else claims (holders w r) t' r').
      { intros t' r'. unfold claims, write_table, join, set; simpl. fold n.
        destruct (Z.eqb_spec r' r) as [->|]; reflexivity. }
      assert (PartLe : forall t', part (holders w r) t' r <= n).
      { intros t'. pose proof (claims_given _ I r t' r). unfold claims, join in H. fold n in H. lia. }
      assert (Up : forall r', whole (holders w r') r' <= whole (set (holders w) r (write_table (holders w r) t r st) r') r').
      { intros r'. unfold set at 1. destruct (Z.eqb_spec r' r) as [->|]; [|lia]. simpl. rewrite set_same. fold n. lia. }
      split; simpl.
      + intros r' t'. unfold set_table, set at 2 3. destruct (Z.eqb_spec r' r) as [->|D].
        * unfold set at 1. destruct (Z.eqb_spec t' t) as [->|Dt]; simpl.
          -- unfold set_table. rewrite set_same.
             assert (Sd : sound (e :: written_to w t) (rows st) (known st)).
             { eapply (sound_write separate _ r (as_state (holders w r) t)); [exact (holders_sound _ I r t) | | exact P].
               intros x X R. simpl. rewrite N. pose proof (table_numbers _ I t x X).
               rewrite R in H. exact H. }
             eapply sound_covers; [exact Sd | |].
             ++ intros r'. rewrite More, Ek. unfold set. destruct (r' =? r); lia.
             ++ intros x X. unfold contains. rewrite More, Ek. unfold set. destruct (_ =? r); [|auto].
                rewrite !Z.leb_le. specialize (PartLe t). lia.
          -- unfold set_table. rewrite set_other by exact Dt.
             eapply sound_covers; [exact (holders_sound _ I r t') | |].
             ++ intros r'. rewrite More. destruct (Z.eqb_spec r' r) as [->|]; [|lia].
                pose proof (claims_given _ I r t' r). fold n in H. lia.
             ++ intros x X. unfold contains. rewrite More. destruct (Z.eqb_spec (replica (w_stamp x)) r) as [R|]; [|auto].
                intros _. apply Z.leb_le. pose proof (table_numbers _ I t' x X). rewrite R in *. fold n in H.
                unfold claims, join. fold n. lia.
        * unfold set at 1. destruct (Z.eqb_spec t' t) as [->|Dt]; [|apply I].
          apply sound_extend; [apply I|]. apply Unknown. apply (claims_given _ I).
      + intros m t' M H. unfold set_table, set. destruct (Z.eqb_spec t' t) as [->|]; [|apply (tables_sound _ I); auto].
        apply sound_extend; [apply (tables_sound _ I); auto|]. apply Unknown. apply (claims_told _ I), M.
      + apply I.
      + intros t' x X. unfold set_table, set at 1 in X. specialize (Up (replica (w_stamp x))).
        destruct (Z.eq_dec t' t) as [Et|Et];
          [rewrite (proj2 (Z.eqb_eq _ _) Et) in X; destruct X as [<-|X] | rewrite (proj2 (Z.eqb_neq _ _) Et) in X].
        * rewrite Es; simpl. rewrite set_same; simpl. rewrite set_same. lia.
        * pose proof (table_numbers _ I t x X). lia.
        * pose proof (table_numbers _ I t' x X). lia.
      + intros r1 t' r2. specialize (Up r2). pose proof (claims_given _ I r1 t' r2).
        unfold set at 1. destruct (Z.eqb_spec r1 r) as [->|]; [|lia]. rewrite More.
        destruct (Z.eqb_spec r2 r) as [->|]; [|lia]. rewrite set_same; simpl. rewrite set_same. fold n.
        specialize (PartLe t'). lia.
      + intros m t' r' M. specialize (Up r'). pose proof (claims_told _ I m t' r' M). lia.
      + intros r1 r2. unfold set at 1. pose proof (no_less_than_nothing _ I r1 r2).
        destruct (Z.eqb_spec r1 r) as [->|]; [|assumption]. simpl. unfold set.
        pose proof (no_less_than_nothing _ I r r). destruct (r2 =? r); lia.
    - split; simpl; try apply I.
      + intros m t [<-|M] H; [apply I | apply (tables_sound _ I); auto].
      + intros m [<-|M]; [right; reflexivity | apply I, M].
      + intros m t r' [<-|M]; [|apply (claims_told _ I), M]. simpl.
        split; [apply I | apply (no_less_than_nothing _ I r' r')].
    - split; simpl; try apply I.
      + intros m t [<-|M] H; [apply I | apply (tables_sound _ I); auto].
      + intros m [<-|M]; [left | apply I, M]. intros t. split; [reflexivity | apply covers_join_l].
      + intros m t r' [<-|M]; [|apply (claims_told _ I), M]. simpl. split; [apply I|].
        pose proof (claims_given _ I r t r'). unfold claims, join in H. lia.
    - assert (Cl : forall t r', claims (apply_tables (holders w r) m) t r' =
                if m_has m t then join (claims (holders w r) t) (m_target m t) r'
                else claims (holders w r) t r').
      { intros t r'. unfold claims, apply_tables, join; simpl.
        destruct (all_or_nothing _ I m M) as [A|Z0].
        - destruct (A t) as [-> Cv]. specialize (Cv r'). unfold join. lia.
        - rewrite Z0. unfold nothing. pose proof (no_less_than_nothing _ I r r').
          destruct (m_has m t); unfold join; lia. }
      assert (Given : forall t r', claims (apply_tables (holders w r) m) t r' <= whole (holders w r') r').
      { intros t r'. rewrite Cl. pose proof (claims_given _ I r t r'). pose proof (claims_told _ I m t r' M).
        destruct (m_has m t); unfold join; lia. }
      assert (Up : forall r', whole (holders w r') r' <= whole (set (holders w) r (apply_tables (holders w r) m) r') r').
      { intros r'. unfold set. destruct (Z.eqb_spec r' r) as [->|]; [|lia]. simpl. unfold join. lia. }
      split; simpl; try apply I.
      + intros r' t. unfold set. destruct (Z.eqb_spec r' r) as [->|]; [|apply I].
        destruct (m_has m t) eqn:H.
        * assert (Sd := sound_apply separate (written_to w t) (as_state (holders w r) t) (as_bundle m t)
            (holders_sound _ I r t) (tables_sound _ I m t M H) (C t H)).
          eapply sound_covers; [simpl; rewrite H; exact Sd | |].
          -- intros r'. rewrite Cl, H. simpl. lia.
          -- intros x X. unfold contains. rewrite Cl, H. simpl. auto.
        * eapply sound_covers; [simpl; rewrite H; apply I | |].
          -- intros r'. rewrite Cl, H. lia.
          -- intros x X. unfold contains. rewrite Cl, H. auto.
      + intros t e X. specialize (Up (replica (w_stamp e))). pose proof (table_numbers _ I t e X). lia.
      + intros r1 t r2. specialize (Up r2). unfold set at 1. destruct (Z.eqb_spec r1 r) as [->|].
        * specialize (Given t r2). lia.
        * pose proof (claims_given _ I r1 t r2). lia.
      + intros m' t r' M'. specialize (Up r'). pose proof (claims_told _ I m' t r' M'). lia.
      + intros r1 r2. pose proof (no_less_than_nothing _ I r1 r2). unfold set.
        destruct (Z.eqb_spec r1 r) as [->|]; simpl; unfold join; lia.
  Qed.

  Lemma tables_always w : tables_reachable w -> tables_invariant w.
  Proof.
    induction 1; [|eapply tables_step_invariant; eauto].
    split; simpl; try contradiction; try (intros; unfold claims, join, nothing; simpl; lia).
    intros r t. split; simpl; try discriminate. contradiction.
  Qed.

  (** THEOREM partial_holders_claim_what_they_have: A replica that exchanges some tables only claims of no table what it lacks: each write that its vector of the table covers is in its row, or beaten there. *)
  Theorem partial_holders_claim_what_they_have w r t e :
    tables_reachable w -> In e (written_to w t) -> contains (claims (holders w r) t) (w_stamp e) = true ->
    exists x, t_rows (holders w r) t (w_key e) = Some x /\ under separate e x.
  Proof. intros R E C. exact (writes_are_there _ _ _ _ (holders_sound _ (tables_always _ R) r t) e E C). Qed.

  (** THEOREM tables_converge: Two replicas whose vectors of a table are equal have the same rows of it, whatever else either of them holds. *)
  Theorem tables_converge w r1 r2 t :
    tables_reachable w -> (forall r, claims (holders w r1) t r = claims (holders w r2) t r) ->
    forall k x, t_rows (holders w r1) t k = Some x ->
      exists y, t_rows (holders w r2) t k = Some y /\ same x y.
  Proof.
    intros R E k x X. pose proof (tables_always _ R) as I.
    pose proof (holders_sound _ I r1 t) as S1. pose proof (holders_sound _ I r2 t) as S2.
    assert (C12 : covers (claims (holders w r1) t) (claims (holders w r2) t)) by (intros r; rewrite E; lia).
    assert (C21 : covers (claims (holders w r2) t) (claims (holders w r1) t)) by (intros r; rewrite E; lia).
    destruct (sound_determines _ _ _ _ _ _ S1 S2 C21 _ _ X) as [y [Y B1]].
    destruct (sound_determines _ _ _ _ _ _ S2 S1 C12 _ _ Y) as [x' [X' B2]].
    assert (x' = x) by congruence. subst x'. exists y. split; [exact Y|].
    destruct B1 as [B1|[L1 [Ba1 E1]]]; destruct B2 as [B2|[L2 [Ba2 E2]]]; try lia.
    apply (entries_determine separate).
    - exact (versions _ _ _ _ S1 _ _ X).
    - exact (versions _ _ _ _ S2 _ _ Y).
    - exact L1.
    - apply (le_antisym _ total_stamps); assumption.
    - intros c. apply (le_antisym _ total_entries); auto.
  Qed.
End Partial.

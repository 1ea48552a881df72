(** What holds in every history: of vectors, of rows, and of replicas that know the same. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant CipherStoreProofs.Steps.
Import ListNotations.
Local Open Scope Z_scope.

Section Convergence.
  Variable separate : column -> bool.

  Local Notation sound := (sound separate).
  Local Notation below := (below separate).
  Local Notation step := (step separate).
  Local Notation reachable := (reachable separate).

  Record invariant (w : world) : Prop := {
    replicas_sound : forall r, sound (history w) (rows (replicas w r)) (known (replicas w r));
    bundles_sound : forall m, In m (bundles w) -> sound (history w) (b_rows m) (b_target m);
    numbers_given : forall e, In e (history w) ->
      sequence (w_stamp e) <= known (replicas w (replica (w_stamp e))) (replica (w_stamp e));
    own_known_best : forall r r', known (replicas w r) r' <= known (replicas w r') r';
    targets_given : forall m, In m (bundles w) -> forall r, b_target m r <= known (replicas w r) r }.

  Lemma start_invariant : invariant start.
  Proof.
    split; simpl; try contradiction; try reflexivity.
    intros r. split; simpl; try discriminate. contradiction.
  Qed.

  Lemma step_invariant w w' : invariant w -> step w w' -> invariant w'.
  Proof.
    intros I S. destruct S as [w r k l t a st e P | w r b | w r m M C].
    - assert (E : w_stamp e = {| time := t; replica := r; sequence := known (replicas w r) r + 1 |} /\
                  known st = set (known (replicas w r)) r (known (replicas w r) r + 1)).
      { unfold perform in P. destruct (write_row _ _ _ _ _); [|discriminate]. injection P; intros <- <-. auto. }
      destruct E as [Es Ek].
      assert (Unknown : forall v, v r <= known (replicas w r) r -> contains v (w_stamp e) = false).
      { intros v L. unfold contains. rewrite Es; simpl. apply Z.leb_gt. lia. }
      split; simpl.
      + intros r'. unfold set. destruct (Z.eqb_spec r' r) as [->|N].
        * eapply sound_write; [apply (replicas_sound _ I) | | exact P].
          intros x X R. rewrite <- R. apply (numbers_given _ I), X.
        * apply sound_extend; [apply (replicas_sound _ I)|]. apply Unknown, (own_known_best _ I).
      + intros m M. apply sound_extend; [apply (bundles_sound _ I), M|]. apply Unknown, (targets_given _ I), M.
      + intros x [<-|X].
        * rewrite Es; simpl. rewrite set_same, Ek, set_same. lia.
        * pose proof (numbers_given _ I x X). unfold set.
          destruct (Z.eqb_spec (replica (w_stamp x)) r) as [R|]; [|lia]. rewrite Ek, R, set_same. rewrite R in H. lia.
      + intros r1 r2. unfold set at 1 2. pose proof (own_known_best _ I r1 r2).
        destruct (Z.eqb_spec r1 r) as [->|]; destruct (Z.eqb_spec r2 r) as [->|]; rewrite ?Ek, ?set_same; try lia.
        rewrite set_other by assumption. lia.
      + intros m M r'. unfold set. pose proof (targets_given _ I m M r').
        destruct (Z.eqb_spec r' r) as [->|]; [|lia]. rewrite Ek, set_same. lia.
    - split; simpl; try apply I.
      + intros m [<-|M]; [apply I | apply I, M].
      + intros m [<-|M] r'; [apply I | apply I, M].
    - assert (Own : forall r', known (apply separate (replicas w r) m) r' <= known (replicas w r') r').
      { intros r'. simpl. unfold join. pose proof (own_known_best _ I r r'). pose proof (targets_given _ I m M r'). lia. }
      assert (Up : forall r', known (replicas w r') r' <= known (set (replicas w) r (apply separate (replicas w r) m) r') r').
      { intros r'. unfold set. destruct (Z.eqb_spec r' r) as [->|]; [|lia]. simpl. unfold join. lia. }
      split; simpl.
      + intros r'. unfold set. destruct (Z.eqb_spec r' r) as [->|].
        * apply sound_apply; [apply I | apply I, M | exact C].
        * apply I.
      + apply I.
      + intros e E. pose proof (numbers_given _ I e E). specialize (Up (replica (w_stamp e))). lia.
      + intros r1 r2. specialize (Up r2). unfold set at 1. destruct (r1 =? r).
        * specialize (Own r2). lia.
        * pose proof (own_known_best _ I r1 r2). lia.
      + intros m' M' r'. specialize (Up r'). pose proof (targets_given _ I m' M' r'). lia.
  Qed.

  Lemma reachable_invariant w : reachable w -> invariant w.
  Proof. induction 1; [apply start_invariant | eapply step_invariant; eauto]. Qed.

  (** THEOREM convergence: Two replicas that know the same changes have the same rows, with the same values and stamps, in whatever order, grouping and number the bundles came. *)
  Theorem convergence w r1 r2 :
    reachable w -> (forall r, known (replicas w r1) r = known (replicas w r2) r) ->
    forall k, match rows (replicas w r1) k, rows (replicas w r2) k with
              | Some x, Some y => same x y
              | None, None => True
              | _, _ => False
              end.
  Proof.
    intros R E k. pose proof (reachable_invariant _ R) as I.
    pose proof (replicas_sound _ I r1) as S1. pose proof (replicas_sound _ I r2) as S2.
    assert (C12 : covers (known (replicas w r1)) (known (replicas w r2))) by (intros r; rewrite E; lia).
    assert (C21 : covers (known (replicas w r2)) (known (replicas w r1))) by (intros r; rewrite E; lia).
    destruct (rows (replicas w r1) k) as [x|] eqn:X; destruct (rows (replicas w r2) k) as [y|] eqn:Y; auto.
    - destruct (sound_determines _ _ _ _ _ _ S1 S2 C21 _ _ X) as [y' [Y' B1]].
      destruct (sound_determines _ _ _ _ _ _ S2 S1 C12 _ _ Y) as [x' [X' B2]].
      assert (y' = y) by congruence. assert (x' = x) by congruence. subst.
      destruct B1 as [B1|[L1 [Ba1 E1]]]; destruct B2 as [B2|[L2 [Ba2 E2]]]; try lia.
      apply (entries_determine separate).
      + exact (versions _ _ _ _ S1 _ _ X).
      + exact (versions _ _ _ _ S2 _ _ Y).
      + exact L1.
      + apply (le_antisym _ total_stamps); assumption.
      + intros c. apply (le_antisym _ total_entries); auto.
    - destruct (sound_determines _ _ _ _ _ _ S1 S2 C21 _ _ X) as [y' [Y' _]]. congruence.
    - destruct (sound_determines _ _ _ _ _ _ S2 S1 C12 _ _ Y) as [x' [X' _]]. congruence.
  Qed.

  (** THEOREM nothing_is_refused: A bundle whose base the receiver knows is never refused for a row whose beginning it lacks. *)
  Theorem nothing_is_refused w r m k ch :
    reachable w -> In m (bundles w) -> covers (known (replicas w r)) (b_base m) -> told m k = Some ch ->
    plan_merge separate (rows (replicas w r) k) ch (b_target m) (known (replicas w r)) <> None.
  Proof.
    intros R M C T. pose proof (reachable_invariant _ R) as I.
    destruct (applied_spec separate _ _ m k (replicas_sound _ I r) (bundles_sound _ I m M) C)
      as [[N _]|[x [z [X [_ [_ [_ E]]]]]]].
    - unfold told in T. rewrite N in T. discriminate.
    - rewrite T in E. simpl in E. unfold apply_change in E. destruct (plan_merge _ _ _ _ _); [discriminate | discriminate].
  Qed.

  (** THEOREM rows_only_rise: No step takes a row away, lowers its life, or puts an older write of the row or of a column of the same life in the place of a newer one. *)
  Theorem rows_only_rise w w' r k x :
    reachable w -> step w w' -> rows (replicas w r) k = Some x ->
    exists y, rows (replicas w' r) k = Some y /\ below x y.
  Proof.
    intros R S X. pose proof (reachable_invariant _ R) as I.
    pose proof (versions _ _ _ _ (replicas_sound _ I r) _ _ X) as W.
    destruct S as [w r' k' l t a st e P | w r' b | w r' m M C]; simpl.
    - unfold set. destruct (Z.eqb_spec r r') as [->|]; [|exists x; split; [exact X | apply below_refl]].
      unfold perform in P. destruct (write_row _ _ _ _ _) as [z|] eqn:E; [|discriminate].
      injection P; intros _ <-; simpl. unfold set. destruct (Z.eqb_spec k k') as [->|].
      + exists z. split; [reflexivity|]. eapply write_above; eauto.
      + exists x. split; [exact X | apply below_refl].
    - exists x. split; [exact X | apply below_refl].
    - unfold set. destruct (Z.eqb_spec r r') as [->|]; [|exists x; split; [exact X | apply below_refl]].
      simpl. destruct (applied_spec separate _ _ m k (replicas_sound _ I r') (bundles_sound _ I m M) C)
        as [[_ ->]|[y [z [Y [-> [Wz [E _]]]]]]]; [exists x; split; [exact X | apply below_refl]|].
      exists z. split; [reflexivity|].
      destruct (merged_origin separate (rows (replicas w r') k) y z) as [_ [B _]]; auto.
      + exact (versions _ _ _ _ (bundles_sound _ I m M) _ _ Y).
      + intros x' X'. exact (versions _ _ _ _ (replicas_sound _ I r') _ _ X').
  Qed.

  Lemma gone_is_even w e : reachable w -> In e (history w) -> w_what e = Gone -> is_alive (w_life e) = false.
  Proof.
    intros R. revert e. induction R as [|w w' R IH S]; [contradiction|]. intros i In G.
    destruct S as [w r k l t a st e P | w r b | w r m M C]; simpl in In; try (eapply IH; eassumption).
    destruct In as [<-|In]; [|eapply IH; eassumption].
    unfold perform in P. destruct (write_row _ _ _ _ _) eqn:E; [|discriminate]. injection P; intros <- _.
    simpl in *. subst a. unfold write_row in E. destruct (rows _ _); [|discriminate].
    destruct (is_alive l); [discriminate | reflexivity].
  Qed.

  (** THEOREM deletion_is_for_good: A replica that knows a deletion never shows the row in the life that it ended, or in one before: what it shows was inserted in a later life. *)
  Theorem deletion_is_for_good w r e x :
    reachable w -> In e (history w) -> w_what e = Gone ->
    contains (known (replicas w r)) (w_stamp e) = true ->
    rows (replicas w r) (w_key e) = Some x -> is_alive (life x) = true ->
    w_life e < life x /\
    exists i row, In i (history w) /\ w_what i = Whole row /\ w_key i = w_key e /\ w_life i = life x.
  Proof.
    intros R E G C X A. pose proof (reachable_invariant _ R) as I. pose proof (gone_is_even _ _ R E G) as D.
    pose proof (replicas_sound _ I r) as S.
    destruct (writes_are_there _ _ _ _ S e E C) as [y [Y U]]. assert (y = x) by congruence. subst y.
    assert (L : w_life e < life x).
    { destruct U as [U|[U _]]; [exact U|]. rewrite U in D. congruence. }
    split; [exact L|].
    destruct (base_is_written _ _ _ _ S _ _ X) as [i [[Ii [_ [Ki Li]]] [Hi Bi]]].
    unfold is_whole in Hi. destruct (w_what i) as [row| |] eqn:W; [|exfalso|contradiction].
    - exists i, row. auto.
    - rewrite <- Li, (gone_is_even _ _ R Ii W) in A. discriminate.
  Qed.

  (** THEOREM vectors_only_grow: No step takes anything out of a replica's vector. *)
  Theorem vectors_only_grow w w' r : step w w' -> covers (known (replicas w' r)) (known (replicas w r)).
  Proof.
    intros S. destruct S as [w r' k l t a st e P | w r' b | w r' m M C]; simpl.
    - unfold set. destruct (Z.eqb_spec r r') as [->|]; [|apply covers_refl].
      unfold perform in P. destruct (write_row _ _ _ _ _); [|discriminate]. injection P; intros _ <-. simpl.
      intros r. unfold set. destruct (Z.eqb_spec r r') as [->|]; lia.
    - apply covers_refl.
    - unfold set. destruct (Z.eqb_spec r r') as [->|]; [|apply covers_refl]. apply covers_join_l.
  Qed.

  (** THEOREM vectors_are_true: What a replica's vector covers, it has taken into account: its row has the write, or one that beats it. *)
  Theorem vectors_are_true w r e :
    reachable w -> In e (history w) -> contains (known (replicas w r)) (w_stamp e) = true ->
    exists x, rows (replicas w r) (w_key e) = Some x /\ under separate e x.
  Proof. intros R E C. apply (writes_are_there _ _ _ _ (replicas_sound _ (reachable_invariant _ R) r)); assumption. Qed.
End Convergence.

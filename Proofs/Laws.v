(** The merge of two versions is the greater one of each of their parts, and so the join of a semilattice.

    Nothing is assumed of stamps: even where two files wrote under one identity and one stamp stands for two
    values, the order of values decides ([Merge.swift]: timestamp, replica, value), and the laws hold. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge CipherStoreProofs.Entries.
Local Open Scope Z_scope.

(** * One column *)

Section Column.
  Variables (separate : column -> bool) (local : version) (ch : change) (peer known : vector) (c : column).
  Hypothesis (W : well_formed separate local) (Wc : well_formed_change separate ch).

  Local Notation b := (newest (base local) (c_base ch)).
  Local Notation o := (merge_column separate local ch peer known b c).

  Lemma base_not_above other w :
    is_newer (base local) w = false -> (forall b0, other = Some b0 -> is_newer b0 w = false) ->
    is_newer (newest (base local) other) w = false.
  Proof.
    unfold newest. intros H1 H2. destruct other as [b0|]; [|exact H1].
    specialize (H2 _ eq_refl). destruct (is_newer b0 (base local)); [exact H2|].
    destruct (_ && _); assumption.
  Qed.

  Lemma cells_none_of_values : values local c = None -> cells local c = None.
  Proof. intros H. destruct (cells local c) eqn:E; [|reflexivity]. destruct (cell_has_value _ _ W _ _ E H). Qed.

  Definition cell_fits : Prop := forall s, o_cell o = Some s ->
    value_after local o c <> None /\ s <> b /\ (separate c = false -> is_newer b s = false).

  Lemma unwritten_column : c_writes ch c = None ->
    entry_after separate local o b c = greater compare_entries (entry_of separate local c) (change_entry separate ch c)
    /\ cell_fits.
  Proof.
    intros Hw. unfold cell_fits, change_entry, entry_after, value_after, stamp_after, merge_column, entry_of.
    rewrite Hw. destruct (values local c) as [v|] eqn:V; simpl.
    - unfold is_newer_base, defaulted. destruct (separate c) eqn:S; simpl.
      + rewrite ?V, ?stamp_of_cell_beside, greater_bottom_r. split; [reflexivity|].
        intros s E. apply cell_beside_differs in E as [-> E]. split; [congruence|]. split; congruence.
      + pose proof (stamp_above_base _ _ _ W S) as A.
        destruct (c_base ch) as [b0|] eqn:B; simpl.
        * rewrite greater_written_default. destruct (is_newer b0 (stamp_of local c)) eqn:N.
          -- unfold reset. rewrite ?V; simpl. split; [|discriminate].
             f_equal. f_equal. apply newest_moment.
             rewrite newer_lt in N. rewrite newer_le in *.
             eapply le_trans; [apply total_moments | exact A | apply lt_le; exact N].
          -- simpl. rewrite ?V, ?stamp_of_cell_beside. split; [reflexivity|].
             intros s E. apply cell_beside_differs in E as [-> E]. split; [congruence|]. split; [assumption|].
             intros _. apply base_not_above; [assumption|]. intros b1 H; inversion H; subst; assumption.
        * change (None, None) with bottom. rewrite greater_bottom_r, ?V, ?stamp_of_cell_beside.
          split; [reflexivity|].
          intros s E. apply cell_beside_differs in E as [-> E]. split; [congruence|]. split; [assumption|].
          intros _. apply base_not_above; [assumption|]. intros b1 H; inversion H; subst; assumption.
    - rewrite (cells_none_of_values V); simpl. rewrite ?V. split; [|discriminate].
      unfold defaulted. destruct (separate c) eqn:S; [reflexivity|].
      destruct (c_base ch) as [b0|] eqn:B; simpl.
      + symmetry. apply greater_defaults.
      + reflexivity.
  Qed.

  Lemma written_column s v : c_writes ch c = Some (s, v) ->
    entry_after separate local o b c = greater compare_entries (entry_of separate local c) (change_entry separate ch c)
    /\ cell_fits.
  Proof.
    intros Hw. unfold cell_fits, change_entry, entry_after, value_after, stamp_after, merge_column, entry_of.
    rewrite Hw. pose proof (fun S => stamp_above_base _ _ c W S) as A.
    pose proof (fun b0 => write_above_base _ _ Wc c s v b0 Hw) as Ab.
    destruct (values local c) as [ov|] eqn:V; simpl.
    - rewrite greater_written. set (own := stamp_of local c) in *. rewrite ?orb_false_r, ?andb_false_r. simpl.
      destruct (is_newer s own) eqn:N1; simpl.
      + split.
        * destruct (compare_values v ov) eqn:E; simpl; rewrite ?V, stamp_of_cell_beside; try reflexivity.
          apply (cmp_eq _ total_values) in E. congruence.
        * intros t E. apply cell_beside_differs in E as [-> E]. split.
          { destruct (compare_values v ov); simpl; congruence. }
          split; [assumption|]. intros S. apply base_not_above; [|intros; eapply Ab; eauto].
          eapply not_newer_trans; [apply A; assumption | apply newer_asym; assumption].
      + destruct (is_newer own s) eqn:N2; simpl.
        * rewrite ?V, ?stamp_of_cell_beside. split; [reflexivity|].
          intros t E. apply cell_beside_differs in E as [-> E]. split; [congruence|]. split; [assumption|].
          intros S. apply base_not_above; [apply A; assumption|].
          intros b0 B. eapply not_newer_trans; [eapply Ab; eauto | exact N1].
        * destruct (compare_values v ov) eqn:E; simpl; rewrite ?V, stamp_of_cell_beside.
          -- split; [reflexivity|]. intros t F. apply cell_beside_differs in F as [-> F].
             split; [congruence|]. split; [assumption|]. intros S.
             assert (M : is_newer b own = false) by
               (apply base_not_above; [apply A; assumption | intros b0 B; eapply not_newer_trans; [eapply Ab; eauto | exact N1]]).
             rewrite newer_le in *. rewrite newest_moment by (apply newer_le; exact N2).
             eapply le_trans; [apply total_moments | exact M | exact N2].
          -- split; [reflexivity|]. intros t F. apply cell_beside_differs in F as [-> F].
             split; [congruence|]. split; [assumption|]. intros S. apply base_not_above; [apply A; assumption|].
             intros b0 B. eapply not_newer_trans; [eapply Ab; eauto | exact N1].
          -- split; [reflexivity|]. intros t F. apply cell_beside_differs in F as [-> F].
             split; [congruence|]. split; [assumption|]. intros S. apply base_not_above; [|intros; eapply Ab; eauto].
             eapply not_newer_trans; [apply A; assumption | exact N2].
    - assert (C := cells_none_of_values V). unfold stamp_of. rewrite C. simpl.
      unfold defaulted. destruct (separate c) eqn:S; simpl.
      + rewrite orb_true_r. simpl. rewrite orb_true_r. simpl. rewrite stamp_of_cell_beside, greater_bottom_l.
        split; [reflexivity|]. intros t F. apply cell_beside_differs in F as [-> F].
        split; [congruence|]. split; congruence.
      + rewrite greater_default_written. destruct (is_newer (base local) s) eqn:N.
        * rewrite (newer_asym _ _ N). simpl. rewrite ?V. simpl.
          assert (B : b = base local).
          { destruct (c_base ch) as [b0|] eqn:B; [|reflexivity].
            apply newest_of_newer. rewrite newer_lt in *. specialize (Ab _ eq_refl eq_refl).
            rewrite newer_le in Ab. unfold le in Ab.
            destruct (compare_moments (moment b0) (moment s)) eqn:E; [| |congruence].
            - apply (cmp_eq _ total_moments) in E. congruence.
            - eapply cmp_lt_trans; [apply total_moments | exact E | exact N]. }
          rewrite B. split; [reflexivity|].
          intros t F. apply cell_beside_differs in F as [-> F]. congruence.
        * rewrite orb_true_r. simpl. rewrite orb_true_r. simpl. rewrite stamp_of_cell_beside.
          split; [reflexivity|]. intros t F. apply cell_beside_differs in F as [-> F].
          split; [congruence|]. split; [assumption|]. intros _. apply base_not_above; [assumption|].
          intros; eapply Ab; eauto.
  Qed.

  Lemma merged_column :
    entry_after separate local o b c = greater compare_entries (entry_of separate local c) (change_entry separate ch c)
    /\ cell_fits.
  Proof. destruct (c_writes ch c) as [[s v]|] eqn:E; [eapply written_column | apply unwritten_column]; eauto. Qed.
End Column.

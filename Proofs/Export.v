(** What a replica tells of a row to one that knows a vector, and that this is as good as all of the row.

    [BundleExporter.writeRow], with [newRowsSQL] and [newCellsSQL]: Sources/SyncEngine/Bundles/Export. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join.
Local Open Scope Z_scope.

(** The writes of a row that a vector does not cover; with a write of the whole row, all of them. Who does not know that
    write can have met one of the others with a former row, and dropped it: Proofs/sessions/resync.pml. A row that exists and
    has none is told as a change of nothing, which the code leaves out; [nothing_told] says that this makes no difference. *)
Definition export (v : vector) (x : version) : option change :=
  let is_new s := negb (contains v s) in
  let value_with s c := option_map (fun a => (s, a)) (values x c) in
  if is_alive (life x) then
    Some
      {| c_life := life x;
         c_base := if is_new (base x) then Some (base x) else None;
         c_writes := fun c =>
           match cells x c with
           | Some s => if is_new s || is_new (base x) then value_with s c else None
           | None => if is_new (base x) then value_with (base x) c else None
           end |}
  else if is_new (base x) then Some {| c_life := life x; c_base := Some (base x); c_writes := no |}
  else None.

Section Export.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation well_formed := (well_formed separate).
  Local Notation merge := (merge separate).
  Local Notation apply_change := (apply_change separate).

  (** A bundle's row, or none, taken in: nothing comes of it when the change is refused. *)
  Definition receive (local : option version) (told : option change) (peer known : vector) : option (option version) :=
    match told with
    | None => Some local
    | Some ch => option_map Some (apply_change local ch peer known)
    end.

  (** Whether a row holds whatever a vector covers of a version. *)
  Definition holds (local : option version) (x : version) (v : vector) : Prop :=
    (contains v (base x) = true -> exists r, local = Some r /\
      (life x < life r \/ (life x = life r /\ le compare_stamps (base x) (base r)))) /\
    forall c, values x c <> None -> contains v (stamp_of x c) = true -> exists r, local = Some r /\
      (life x < life r \/ (life x = life r /\ le compare_entries (entry_of x c) (entry_of r c))).

  Definition merged_into (local : option version) (x : version) : version :=
    match local with None => x | Some r => merge r x end.

  Lemma bottom_least e : le compare_entries bottom e.
  Proof. destruct e as [[m|] [w|]]; discriminate. Qed.

  Lemma default_least x c :
    well_formed x -> le compare_entries (defaulted separate c (Some (base x))) (entry_of x c).
  Proof.
    intros W. unfold Entries.entry_of. destruct (values x c) as [w|] eqn:V.
    - unfold defaulted. destruct (separate c) eqn:S; [apply bottom_least|].
      pose proof (stamp_above_base _ _ c W S) as A. simpl.
      pose proof (greater_default_written (base x) (stamp_of x c) w) as G. rewrite A in G.
      rewrite <- G. apply le_greater_l, total_entries.
    - apply le_refl, total_entries.
  Qed.

  Lemma default_le b b' c :
    le compare_stamps b b' ->
    le compare_entries (defaulted separate c (Some b)) (defaulted separate c (Some b')).
  Proof.
    intros L. unfold defaulted. destruct (separate c); [apply bottom_least|]. simpl.
    pose proof (greater_defaults b b') as G. rewrite newest_greater, (greater_r _ total_stamps _ _ L) in G.
    rewrite <- G. apply le_greater_l, total_entries.
  Qed.

  Lemma export_well_formed v x ch :
    well_formed x -> export v x = Some ch -> well_formed_change separate ch.
  Proof.
    unfold export. intros W E. destruct (is_alive (life x)) eqn:A.
    - injection E; intros <-; clear E. split; simpl.
      + intros c s a b Hw Hb S. destruct (negb (contains v (base x))) eqn:N; [|discriminate].
        injection Hb; intros <-. destruct (cells x c) as [t|] eqn:C.
        * rewrite orb_true_r in Hw. destruct (values x c); [|discriminate].
          injection Hw; intros; subst. eapply cell_above_base; eauto.
        * destruct (values x c); [|discriminate]. injection Hw; intros; subst. apply is_newer_irrefl.
      + congruence.
    - destruct (negb (contains v (base x))); [|discriminate]. injection E; intros <-. split; simpl; [discriminate|].
      reflexivity.
  Qed.

  (** What is left out is here already. *)
  Lemma exported_entry v x ch r c :
    well_formed x -> well_formed r -> export v x = Some ch -> holds (Some r) x v -> life x = life r ->
    greater compare_entries (entry_of r c) (change_entry separate ch c)
      = greater compare_entries (entry_of r c) (entry_of x c).
  Proof.
    intros W Wr E [Hb Hc] L. specialize (Hc c).
    assert (K : values x c <> None -> contains v (stamp_of x c) = true ->
                le compare_entries (entry_of x c) (entry_of r c)).
    { intros V C. destruct (Hc V C) as [r' [R [N|[_ N]]]]; injection R; intros; subst; [lia | exact N]. }
    assert (B : contains v (base x) = true -> le compare_entries (defaulted separate c (Some (base x))) (entry_of r c)).
    { intros C. destruct (Hb C) as [r' [R [N|[_ N]]]]; injection R; intros; subst; [lia|].
      eapply le_trans; [apply total_entries | apply default_le; exact N | apply default_least; exact Wr]. }
    assert (Same : forall e, le compare_entries e (entry_of r c) ->
              le compare_entries (entry_of x c) (entry_of r c) ->
              greater compare_entries (entry_of r c) e = greater compare_entries (entry_of r c) (entry_of x c)).
    { intros e H1 H2. rewrite !(greater_l _ total_entries); auto. }
    unfold export in E. destruct (is_alive (life x)) eqn:A.
    - injection E; intros <-; clear E. unfold change_entry; simpl.
      destruct (cells x c) as [s|] eqn:C.
      + pose proof (cell_has_value _ _ W _ _ C) as V. assert (Es : stamp_of x c = s) by (unfold stamp_of; rewrite C; reflexivity).
        destruct (contains v s) eqn:N; simpl.
        * rewrite Es in K. specialize (K V N).
          destruct (contains v (base x)) eqn:Nb; simpl.
          -- apply Same; [|exact K]. unfold defaulted. destruct (separate c); apply bottom_least.
          -- f_equal. unfold Entries.entry_of. rewrite Es. destruct (values x c); [reflexivity | congruence].
        * f_equal. unfold Entries.entry_of. rewrite Es. destruct (values x c); [reflexivity | congruence].
      + assert (Es : stamp_of x c = base x) by (unfold stamp_of; rewrite C; reflexivity).
        destruct (contains v (base x)) eqn:Nb; simpl.
        * assert (K2 : le compare_entries (entry_of x c) (entry_of r c)).
          { destruct (values x c) as [a|] eqn:V.
            - apply K; [congruence | rewrite Es; exact Nb].
            - unfold Entries.entry_of at 1. rewrite V. apply B. reflexivity. }
          apply Same; [|exact K2]. unfold defaulted. destruct (separate c); apply bottom_least.
        * f_equal. unfold Entries.entry_of. rewrite Es. destruct (values x c); reflexivity.
    - destruct (contains v (base x)) eqn:Nb; [discriminate|]. injection E; intros <-; clear E.
      unfold change_entry; simpl. f_equal. unfold Entries.entry_of.
      destruct (dead_is_empty _ _ W A c) as [_ ->]. reflexivity.
  Qed.

  (** THEOREM the_difference_is_enough: The writes of a row beyond a vector, merged into a row that holds what the vector covers of it, give the same as the whole row; such a change is never refused. *)
  Theorem the_difference_is_enough v x local peer known :
    well_formed x -> (forall r, local = Some r -> well_formed r) -> holds local x v ->
    exists z, receive local (export v x) peer known = Some (Some z) /\ well_formed z /\ same z (merged_into local x).
  Proof.
    intros W Wl H. destruct (export v x) as [ch|] eqn:E; simpl.
    - pose proof (export_well_formed _ _ _ W E) as Wc.
      assert (Lc : c_life ch = life x).
      { unfold export in E. destruct (is_alive (life x)); [injection E; intros <-; reflexivity|].
        destruct (negb _); [injection E; intros <-; reflexivity | discriminate]. }
      assert (New : (forall r, local = Some r -> life r < life x) ->
                c_base ch = Some (base x) /\ forall c, change_entry separate ch c = entry_of x c).
      { intros N. destruct H as [Hb Hc].
        assert (Nb : contains v (base x) = false).
        { destruct (contains v (base x)) eqn:C; [|reflexivity]. destruct (Hb eq_refl) as [r [R K]].
          specialize (N _ R). lia. }
        assert (Nc : forall c, values x c <> None -> contains v (stamp_of x c) = false).
        { intros c V. destruct (contains v (stamp_of x c)) eqn:C; [|reflexivity]. destruct (Hc c V C) as [r [R K]].
          specialize (N _ R). lia. }
        unfold export in E. rewrite Nb in E; simpl in E.
        destruct (is_alive (life x)) eqn:A; injection E; intros <-; (split; [reflexivity|]); intros c;
          unfold change_entry, Entries.entry_of, stamp_of; simpl.
        - specialize (Nc c). unfold stamp_of in Nc. destruct (cells x c) as [s|] eqn:C.
          + pose proof (cell_has_value _ _ W _ _ C) as V. rewrite (Nc V). simpl.
            destruct (values x c); [reflexivity | congruence].
          + destruct (values x c); reflexivity.
        - destruct (dead_is_empty _ _ W A c) as [-> ->]. reflexivity. }
      assert (Told : forall z, told separate ch (base x) z -> (forall c, change_entry separate ch c = entry_of x c) ->
                well_formed z /\ same z x).
      { intros z [Wz [Lz [Bz Ez]]] Ec. split; [exact Wz|].
        apply (entries_determine separate); auto; [congruence|]. intros c. rewrite Ez. apply Ec. }
      destruct local as [r|]; simpl.
      + specialize (Wl _ eq_refl). pose proof (merge_spec separate r x Wl W) as [_ [Wm [Lm [Bm Em]]]].
        destruct (Z.lt_trichotomy (life r) (life x)) as [L|[L|L]].
        * destruct New as [B Ec]; [intros r' R; injection R; intros <-; exact L|].
          assert (L2 : life r < c_life ch) by lia.
          destruct (apply_later_life separate r ch (base x) peer known Wl Wc B L2) as [z [-> T]].
          destruct (Told z T Ec) as [Wz S]. exists z. split; [reflexivity|]. split; [exact Wz|].
          eapply same_trans; [exact S|]. apply (entries_determine separate); auto; [lia | |].
          -- rewrite Bm. unfold pick. rewrite (proj2 (Z.ltb_lt _ _) L). reflexivity.
          -- intros c. rewrite Em. unfold pick. rewrite (proj2 (Z.ltb_lt _ _) L). reflexivity.
        * assert (D : is_alive (c_life ch) = false -> c_base ch <> None).
          { unfold export in E. rewrite Lc. destruct (is_alive (life x)); [discriminate|].
            destruct (negb _); [injection E; intros <-; discriminate | discriminate]. }
          assert (L2 : life r = c_life ch) by lia.
          destruct (apply_same_life separate r ch peer known Wl Wc L2 D) as [z [-> [Wz [Lz [Bz Ez]]]]].
          exists z. split; [reflexivity|]. split; [exact Wz|]. apply (entries_determine separate); auto; [lia | |].
          -- rewrite Bz, Bm. unfold pick. rewrite L, Z.ltb_irrefl.
             unfold export in E. destruct (is_alive (life x)) eqn:A.
             ++ injection E; intros <-; simpl. destruct (contains v (base x)) eqn:Nb; simpl.
                ** symmetry. destruct H as [Hb _]. destruct (Hb Nb) as [r' [R K]].
                   injection R; intros; subst r'. apply greater_l; [apply total_stamps|]. destruct K as [K|[_ K]]; [lia | exact K].
                ** apply newest_greater.
             ++ destruct (negb _); [|discriminate]. injection E; intros <-. apply newest_greater.
          -- intros c. rewrite Ez, Em. unfold pick. rewrite L, Z.ltb_irrefl.
             eapply exported_entry; eauto.
        * assert (L2 : c_life ch < life r) by lia.
          destruct (apply_earlier_life separate r ch peer known L2) as [z [-> S]].
          exists z. split; [reflexivity|]. split; [eapply same_well_formed; [apply same_sym; exact S | exact Wl]|].
          eapply same_trans; [exact S|]. apply (entries_determine separate); auto; [lia | |].
          -- rewrite Bm. unfold pick. destruct (Z.ltb_spec (life r) (life x)); [lia|]. rewrite (proj2 (Z.ltb_lt _ _) L). reflexivity.
          -- intros c. rewrite Em. unfold pick. destruct (Z.ltb_spec (life r) (life x)); [lia|]. rewrite (proj2 (Z.ltb_lt _ _) L). reflexivity.
      + destruct New as [B Ec]; [discriminate|].
        destruct (apply_to_nothing separate ch (base x) peer known Wc B) as [z [-> T]].
        destruct (Told z T Ec). exists z. auto.
    - (* A deletion that is known. *)
      unfold export in E. destruct (is_alive (life x)) eqn:A; [discriminate|].
      destruct (contains v (base x)) eqn:Nb; [|discriminate].
      destruct H as [Hb _]. destruct (Hb Nb) as [r [-> K]]. specialize (Wl _ eq_refl).
      exists r. split; [reflexivity|]. split; [exact Wl|]. simpl.
      destruct (merge_spec separate r x Wl W) as [_ [Wm [Lm [Bm Em]]]].
      apply (entries_determine separate); auto; [lia | |]; unfold pick in *.
      + rewrite Bm. destruct (Z.ltb_spec (life r) (life x)); [lia|].
        destruct (Z.ltb_spec (life x) (life r)); [reflexivity|].
        symmetry. apply greater_l; [apply total_stamps|]. destruct K as [K|[_ K]]; [lia | exact K].
      + intros c. rewrite Em. destruct (Z.ltb_spec (life r) (life x)); [lia|].
        destruct (Z.ltb_spec (life x) (life r)); [reflexivity|].
        symmetry. apply greater_l; [apply total_entries|].
        unfold Entries.entry_of at 1. destruct (dead_is_empty _ _ W A c) as [_ ->].
        eapply le_trans; [apply total_entries | apply default_le | apply default_least; exact Wl].
        destruct K as [K|[_ K]]; [lia | exact K].
  Qed.
End Export.

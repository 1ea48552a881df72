(** The laws of the merge of whole rows. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws.
Local Open Scope Z_scope.

Section Join.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation well_formed := (well_formed separate).
  Local Notation merge := (merge separate).
  Local Notation apply_change := (apply_change separate).

  (** * What a change makes of a row, part by part *)

  (** The row that a change with its base tells. *)
  Definition told (ch : change) (b : stamp) (z : version) : Prop :=
    well_formed z /\ life z = c_life ch /\ base z = b /\ forall c, entry_of z c = change_entry separate ch c.

  Lemma same_told ch b x y : same x y -> told ch b x -> told ch b y.
  Proof.
    intros S [W [L [B E]]]. split; [eapply same_well_formed; eauto|].
    destruct S as [L' [B' C']] eqn:S'. split; [congruence|]. split; [congruence|].
    intros c. rewrite <- E. symmetry. apply same_entry. exact S.
  Qed.

  Lemma begin_spec ch b :
    well_formed_change separate ch -> c_base ch = Some b ->
    exists p, begin ch = Some p /\ told ch b (carry_out None p) /\
      p_action p = (if is_alive (c_life ch) then Insert else Keep) /\
      (is_alive (c_life ch) = false -> forall c, p_writes p c = None).
  Proof.
    intros Wc B. unfold begin. rewrite B. eexists. split; [reflexivity|]. split; [|split; [reflexivity|]].
    - split; [|split; [reflexivity|split; [reflexivity|]]].
      + split; simpl; destruct (is_alive (c_life ch)) eqn:D; try discriminate.
        * intros c s. destruct (c_writes ch c) as [[s' v]|]; discriminate.
        * intros c s. destruct (c_writes ch c) as [[s' v]|]; [|discriminate].
          intros E. apply cell_beside_differs in E as [-> E]. exact E.
        * intros c s. destruct (c_writes ch c) as [[s' v]|] eqn:Hw; [|discriminate].
          intros E S. apply cell_beside_differs in E as [-> E]. eapply write_above_base; eauto.
        * intros _ c. split; reflexivity.
      + intros c. unfold Entries.entry_of, change_entry, stamp_of; simpl.
        destruct (is_alive (c_life ch)) eqn:D; simpl.
        * destruct (c_writes ch c) as [[s v]|]; simpl.
          -- rewrite stamp_of_cell_beside. reflexivity.
          -- rewrite B. reflexivity.
        * rewrite (dead_tells_nothing _ _ Wc D c), B. reflexivity.
    - simpl. intros ->. reflexivity.
  Qed.

  Lemma apply_to_nothing ch b peer known :
    well_formed_change separate ch -> c_base ch = Some b ->
    exists z, apply_change None ch peer known = Some z /\ told ch b z.
  Proof.
    intros Wc B. destruct (begin_spec _ _ Wc B) as [p [E [T _]]].
    unfold Merge.apply_change, plan_merge. rewrite E. exists (carry_out None p). split; [reflexivity | exact T].
  Qed.

  Lemma apply_later_life x ch b peer known :
    well_formed x -> well_formed_change separate ch -> c_base ch = Some b -> life x < c_life ch ->
    exists z, apply_change (Some x) ch peer known = Some z /\ told ch b z.
  Proof.
    intros W Wc B L. destruct (begin_spec _ _ Wc B) as [p [E [T [Ha Hd]]]].
    unfold Merge.apply_change, plan_merge. rewrite (proj2 (Z.ltb_lt _ _) L). unfold outlive. rewrite E.
    destruct (is_alive (life x)) eqn:A; eexists; (split; [reflexivity|]);
      (eapply same_told; [|exact T]); (split; [reflexivity|]; split; [reflexivity|]);
      intros c; (split; [reflexivity|]); simpl; rewrite Ha.
    - destruct (is_alive (c_life ch)); reflexivity.
    - destruct (is_alive (c_life ch)); [reflexivity|]. destruct (dead_is_empty _ _ W A c) as [_ ->]. reflexivity.
  Qed.

  Lemma apply_earlier_life x ch peer known :
    c_life ch < life x -> exists z, apply_change (Some x) ch peer known = Some z /\ same z x.
  Proof.
    intros L. unfold Merge.apply_change, plan_merge.
    rewrite (proj2 (Z.ltb_ge _ _)) by lia. rewrite (proj2 (Z.ltb_lt _ _) L).
    eexists. split; [reflexivity|]. repeat split.
  Qed.

  Lemma apply_same_life x ch peer known :
    well_formed x -> well_formed_change separate ch -> life x = c_life ch ->
    (is_alive (c_life ch) = false -> c_base ch <> None) ->
    exists z, apply_change (Some x) ch peer known = Some z /\ well_formed z /\ life z = life x /\
      base z = newest (base x) (c_base ch) /\
      forall c, entry_of z c = greater compare_entries (entry_of x c) (change_entry separate ch c).
  Proof.
    intros W Wc L D. unfold Merge.apply_change, plan_merge. rewrite L, Z.ltb_irrefl.
    destruct (is_alive (c_life ch)) eqn:A; simpl; eexists; (split; [reflexivity|]).
    - assert (M := fun c => merged_column separate x ch peer known c W Wc).
      split; [|split; [assumption|split; [reflexivity|]]].
      + split; simpl.
        * intros c s E. destruct (M c) as [_ F]. apply (F _ E).
        * intros c s E. destruct (M c) as [_ F]. apply (F _ E).
        * intros c s E. destruct (M c) as [_ F]. apply (F _ E).
        * congruence.
      + intros c. destruct (M c) as [<- _]. reflexivity.
    - split; [|split; [assumption|split; [reflexivity|]]].
      + assert (N : forall c, values x c = None) by (intros c; eapply dead_is_empty; eauto; congruence).
        split; simpl; try discriminate. intros _ c. rewrite N. split; reflexivity.
      + intros c. unfold Entries.entry_of, change_entry; simpl.
        assert (N : values x c = None) by (eapply dead_is_empty; eauto; congruence).
        rewrite N, (dead_tells_nothing _ _ Wc A c).
        destruct (c_base ch) as [b|]; [|specialize (D eq_refl); congruence].
        unfold defaulted. destruct (separate c); [reflexivity|]. simpl. symmetry. apply greater_defaults.
  Qed.

  (** * The merge of two versions, part by part *)

  (** Of two parts, that of the later life; in one life, what a function makes of both. *)
  Definition pick {A : Type} (f : A -> A -> A) (l m : Z) (a b : A) : A :=
    if l <? m then b else if m <? l then a else f a b.

  Lemma merge_spec x y :
    well_formed x -> well_formed y ->
    apply_change (Some x) (all_of y) nothing nothing = Some (merge x y) /\
    well_formed (merge x y) /\ life (merge x y) = Z.max (life x) (life y) /\
    base (merge x y) = pick (greater compare_stamps) (life x) (life y) (base x) (base y) /\
    forall c, entry_of (merge x y) c =
      pick (greater compare_entries) (life x) (life y) (entry_of x c) (entry_of y c).
  Proof.
    intros Wx Wy. unfold Merge.merge, pick.
    pose proof (all_of_well_formed _ _ Wy) as Wc.
    destruct (Z.ltb_spec (life x) (life y)) as [L|L].
    - destruct (apply_later_life x (all_of y) (base y) nothing nothing Wx Wc eq_refl L) as [z [-> [W [Lz [Bz Ez]]]]].
      split; [reflexivity|]. split; [exact W|]. split; [simpl in Lz; lia|]. split; [exact Bz|].
      intros c. rewrite Ez. apply change_entry_all_of.
    - destruct (Z.ltb_spec (life y) (life x)) as [L'|L'].
      + destruct (apply_earlier_life x (all_of y) nothing nothing L') as [z [-> S]].
        split; [reflexivity|]. split; [eapply same_well_formed; [apply same_sym; exact S | exact Wx]|].
        pose proof S as [Lz [Bz _]]. split; [lia|]. split; [exact Bz|]. intros c. apply same_entry. exact S.
      + assert (L2 : life x = c_life (all_of y)) by (simpl; lia).
        destruct (apply_same_life x (all_of y) nothing nothing Wx Wc L2) as [z [-> [W [Lz [Bz Ez]]]]]; [discriminate|].
        split; [reflexivity|]. split; [exact W|]. split; [lia|].
        split; [rewrite Bz; apply newest_greater|]. intros c. rewrite Ez, change_entry_all_of. reflexivity.
  Qed.

  Lemma pick_comm {A : Type} (f : A -> A -> A) l m a b :
    (forall x y, f x y = f y x) -> pick f l m a b = pick f m l b a.
  Proof.
    intros H. unfold pick. destruct (Z.ltb_spec l m); destruct (Z.ltb_spec m l); auto; lia.
  Qed.

  Lemma pick_assoc {A : Type} (f : A -> A -> A) l m n a b c :
    (forall x y z, f (f x y) z = f x (f y z)) ->
    pick f (Z.max l m) n (pick f l m a b) c = pick f l (Z.max m n) a (pick f m n b c).
  Proof.
    intros H. unfold pick.
    destruct (Z.ltb_spec l m); destruct (Z.ltb_spec m l); destruct (Z.ltb_spec m n); destruct (Z.ltb_spec n m);
      destruct (Z.ltb_spec (Z.max l m) n); destruct (Z.ltb_spec n (Z.max l m));
      destruct (Z.ltb_spec l (Z.max m n)); destruct (Z.ltb_spec (Z.max m n) l); auto; lia.
  Qed.

  Lemma pick_idem {A : Type} (f : A -> A -> A) l a : (forall x, f x x = x) -> pick f l l a a = a.
  Proof. intros H. unfold pick. rewrite Z.ltb_irrefl. apply H. Qed.

  (** THEOREM merge_is_total: Of two versions of a row there is always a merge, and it is a version again. *)
  Theorem merge_is_total x y : well_formed x -> well_formed y ->
    apply_change (Some x) (all_of y) nothing nothing = Some (merge x y) /\ well_formed (merge x y).
  Proof. intros Wx Wy. destruct (merge_spec x y Wx Wy) as [E [W _]]. split; assumption. Qed.

  (** THEOREM merge_commutes: The merge of two versions of a row is the same row, with the same stamps, whichever of them comes first. *)
  Theorem merge_commutes x y : well_formed x -> well_formed y -> same (merge x y) (merge y x).
  Proof.
    intros Wx Wy. destruct (merge_spec x y Wx Wy) as [_ [W1 [L1 [B1 E1]]]].
    destruct (merge_spec y x Wy Wx) as [_ [W2 [L2 [B2 E2]]]].
    apply (entries_determine separate); auto; [lia | |].
    - rewrite B1, B2. apply pick_comm. apply greater_comm, total_stamps.
    - intros c. rewrite E1, E2. apply pick_comm. apply greater_comm, total_entries.
  Qed.

  (** THEOREM merge_associates: Three versions of a row merge to the same row however they are grouped. *)
  Theorem merge_associates x y z : well_formed x -> well_formed y -> well_formed z ->
    same (merge (merge x y) z) (merge x (merge y z)).
  Proof.
    intros Wx Wy Wz. destruct (merge_spec x y Wx Wy) as [_ [W1 [L1 [B1 E1]]]].
    destruct (merge_spec y z Wy Wz) as [_ [W2 [L2 [B2 E2]]]].
    destruct (merge_spec _ z W1 Wz) as [_ [W3 [L3 [B3 E3]]]].
    destruct (merge_spec x _ Wx W2) as [_ [W4 [L4 [B4 E4]]]].
    apply (entries_determine separate); auto; [lia | |].
    - rewrite B3, B4, B1, B2, L1, L2. apply pick_assoc. apply greater_assoc, total_stamps.
    - intros c. rewrite E3, E4, E1, E2, L1, L2. apply pick_assoc. apply greater_assoc, total_entries.
  Qed.

  (** THEOREM merge_repeats: A version that is merged again changes nothing. *)
  Theorem merge_repeats x y : well_formed x -> well_formed y ->
    same (merge x x) x /\ same (merge (merge x y) y) (merge x y).
  Proof.
    assert (I : forall x, well_formed x -> same (merge x x) x).
    { intros x' W. destruct (merge_spec x' x' W W) as [_ [W1 [L1 [B1 E1]]]].
      apply (entries_determine separate); auto; [lia | |].
      - rewrite B1. apply pick_idem. apply greater_idem, total_stamps.
      - intros c. rewrite E1. apply pick_idem. apply greater_idem, total_entries. }
    intros Wx Wy. split; [auto|].
    destruct (merge_spec x y Wx Wy) as [_ [W1 [L1 [B1 E1]]]].
    destruct (merge_spec y y Wy Wy) as [_ [W2 [L2 [B2 E2]]]].
    destruct (merge_spec _ y W1 Wy) as [_ [W3 [L3 [B3 E3]]]].
    apply (entries_determine separate); auto; [lia | |].
    - rewrite B3, B1, L1, pick_assoc by (apply greater_assoc, total_stamps).
      rewrite pick_idem by (apply greater_idem, total_stamps). rewrite Z.max_id. reflexivity.
    - intros c. rewrite E3, E1, L1, pick_assoc by (apply greater_assoc, total_entries).
      rewrite pick_idem by (apply greater_idem, total_entries). rewrite Z.max_id. reflexivity.
  Qed.
End Join.

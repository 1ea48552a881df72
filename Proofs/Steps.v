(** Each step of a history keeps what [sound] says of replicas and bundles. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant.
Import ListNotations.
Local Open Scope Z_scope.

Section Steps.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation well_formed := (well_formed separate).
  Local Notation sound := (sound separate).
  Local Notation below := (below separate).
  Local Notation under := (under separate).

  Lemma set_same {A : Type} (f : Z -> A) k a : set f k a k = a.
  Proof. unfold set. rewrite Z.eqb_refl. reflexivity. Qed.

  Lemma set_other {A : Type} (f : Z -> A) k a k' : k' <> k -> set f k a k' = f k'.
  Proof. intros H. unfold set. rewrite (proj2 (Z.eqb_neq _ _) H). reflexivity. Qed.

  (** * A write *)

  Lemma write_well_formed row l s a x :
    (forall y, row = Some y -> well_formed y) -> write_row separate row l s a = Some x -> well_formed x.
  Proof.
    intros W. unfold write_row. destruct a as [f| |c v].
    - destruct (is_alive l) eqn:A; [|discriminate]. destruct (_ <? _); [|discriminate].
      intros E; injection E; intros <-. split; simpl; try discriminate. congruence.
    - destruct row as [y|]; [|discriminate]. destruct (_ && _); [|discriminate].
      intros E; injection E; intros <-. split; simpl; try discriminate. split; reflexivity.
    - destruct row as [y|]; [|discriminate]. specialize (W _ eq_refl).
      destruct (is_alive l) eqn:A; [|discriminate].
      destruct (Z.eqb_spec (life y) l) as [L|]; [|discriminate].
      destruct (is_newer s (base y)) eqn:N; [|discriminate].
      destruct (is_newer s (stamp_of y c)) eqn:N2; [|discriminate].
      intros E; injection E; intros <-. unfold updated. split; simpl.
      + intros c' t. unfold set. destruct (c' =? c); [discriminate | eapply cell_has_value; eauto].
      + intros c' t. unfold set. destruct (c' =? c); [|eapply cell_differs; eauto].
        intros E2; injection E2; intros <- ->. rewrite is_newer_irrefl in N. discriminate.
      + intros c' t. unfold set. destruct (c' =? c); [|eapply cell_above_base; eauto].
        intros E2; injection E2; intros <- _. apply newer_asym. exact N.
      + rewrite L. congruence.
  Qed.

  Lemma written_above s v e t :
    (forall w, e = written t w \/ e = (Some (moment t), None)) -> is_newer s t = true ->
    le compare_entries e (written s v).
  Proof.
    intros H N. destruct (H v) as [-> | ->].
    - pose proof (greater_written s v t v) as G. rewrite N, (newer_asym _ _ N) in G.
      rewrite <- G. apply le_greater_r, total_entries.
    - pose proof (greater_default_written t s v) as G. rewrite (newer_asym _ _ N) in G.
      rewrite <- G. apply le_greater_l, total_entries.
  Qed.

  Lemma entry_below_write x c s v :
    is_newer s (base x) = true -> is_newer s (stamp_of x c) = true -> le compare_entries (entry_of x c) (written s v).
  Proof.
    intros N N2. unfold Entries.entry_of. destruct (values x c) as [a|].
    - pose proof (greater_written s v (stamp_of x c) a) as G. rewrite N2, (newer_asym _ _ N2) in G.
      rewrite <- G. apply le_greater_r, total_entries.
    - unfold defaulted. destruct (separate c); [apply bottom_least|]. simpl.
      apply (written_above s v _ (base x)); auto.
  Qed.

  Lemma write_above row l s a x y :
    well_formed y -> row = Some y -> write_row separate row l s a = Some x -> below y x.
  Proof.
    intros W ->. unfold write_row. destruct a as [f| |c v].
    - destruct (is_alive l); [|discriminate]. simpl. destruct (Z.ltb_spec (life y) l); [|discriminate].
      intros E; injection E; intros <-. left. assumption.
    - destruct (is_alive l) eqn:A; [discriminate|]. simpl.
      destruct (Z.ltb_spec (life y) l); simpl.
      + intros E; injection E; intros <-. left. assumption.
      + destruct (Z.eqb_spec (life y) l) as [L|]; [|discriminate].
        destruct (is_newer s (base y)) eqn:N; [|discriminate].
        intros E; injection E; intros <-.
        assert (B : le compare_stamps (base y) s).
        { pose proof (newest_greater (base y) s) as G. unfold newest in G. rewrite N in G.
          rewrite G. apply le_greater_l, total_stamps. }
        right. split; [exact L|]. split; [exact B|]. intros c. unfold Entries.entry_of; simpl.
        assert (D : is_alive (life y) = false) by congruence.
        destruct (dead_is_empty _ _ W D c) as [_ ->]. apply default_le. exact B.
    - destruct (is_alive l); [|discriminate].
      destruct (Z.eqb_spec (life y) l) as [L|]; [|discriminate].
      destruct (is_newer s (base y)) eqn:N; [|discriminate].
      destruct (is_newer s (stamp_of y c)) eqn:N2; [|discriminate].
      intros E; injection E; intros <-. right. split; [reflexivity|]. split; [apply le_refl, total_stamps|].
      intros c'. unfold Entries.entry_of at 2, stamp_of, updated; simpl. unfold set.
      destruct (Z.eqb_spec c' c) as [->|]; [apply entry_below_write; assumption | apply le_refl, total_entries].
  Qed.

  Lemma write_is_there row k l s a knew x :
    write_row separate row l s a = Some x ->
    under {| w_key := k; w_life := l; w_stamp := s; w_what := a; w_knew := knew |} x.
  Proof.
    intros E. right. unfold write_row in E. destruct a as [f| |c v]; simpl.
    - destruct (_ && _); [|discriminate]. injection E; intros <-; simpl. split; [reflexivity|].
      split; [intros _; apply le_refl, total_stamps|]. intros c. unfold write_entry, Entries.entry_of; simpl.
      destruct (if separate c then None else f c); apply le_refl, total_entries.
    - destruct row as [y|]; [|discriminate]. destruct (_ && _); [|discriminate]. injection E; intros <-; simpl.
      split; [reflexivity|]. split; [intros _; apply le_refl, total_stamps|].
      intros c. apply le_refl, total_entries.
    - destruct row as [y|]; [|discriminate]. destruct (is_alive l); [|discriminate].
      destruct (Z.eqb_spec (life y) l) as [L|]; [|discriminate]. destruct (_ && _); [|discriminate].
      injection E; intros <-; simpl. split; [congruence|]. split; [intros []|].
      intros c'. unfold write_entry, Entries.entry_of, stamp_of, updated; simpl. unfold set.
      destruct (c' =? c); [apply le_refl, total_entries | apply bottom_least].
  Qed.

  Lemma sound_extend past view knows e :
    sound past view knows -> contains knows (w_stamp e) = false -> sound (e :: past) view knows.
  Proof.
    intros S N. split.
    - apply (versions _ _ _ _ S).
    - intros k x X. destruct (base_is_written _ _ _ _ S k x X) as [w [[I T] H]].
      exists w. split; [split; [right; exact I | exact T] | exact H].
    - intros k x c v X V. destruct (value_is_written _ _ _ _ S k x c v X V) as [w [[I T] H]].
      exists w. split; [split; [right; exact I | exact T] | exact H].
    - intros w [<-|I] C; [congruence|]. apply (writes_are_there _ _ _ _ S); assumption.
  Qed.

  Lemma sound_write past me st k l t a st' e :
    sound past (rows st) (known st) ->
    (forall w, In w past -> replica (w_stamp w) = me -> sequence (w_stamp w) <= known st me) ->
    perform separate me st k l t a = Some (st', e) ->
    sound (e :: past) (rows st') (known st').
  Proof.
    intros S O P. unfold perform in P.
    set (s := {| time := t; replica := me; sequence := known st me + 1 |}) in *.
    destruct (write_row separate (rows st k) l s a) as [x|] eqn:E; [|discriminate].
    injection P; intros <- <-; clear P. simpl.
    set (e := {| w_key := k; w_life := l; w_stamp := s; w_what := a; w_knew := known st |}).
    assert (Up : forall u, contains (known st) u = true -> contains (set (known st) me (known st me + 1)) u = true).
    { intros u. apply contains_covers. intros r. unfold set. destruct (Z.eqb_spec r me); subst; lia. }
    assert (Down : forall w, In w past -> contains (set (known st) me (known st me + 1)) (w_stamp w) = true ->
              contains (known st) (w_stamp w) = true).
    { intros w I. unfold contains, set. destruct (Z.eqb_spec (replica (w_stamp w)) me) as [R|]; [|auto].
      intros _. apply Z.leb_le. rewrite R. apply O; assumption. }
    assert (New : contains (set (known st) me (known st me + 1)) s = true).
    { unfold contains, s; simpl. rewrite set_same. apply Z.leb_refl. }
    assert (Old : forall w k' x', takes_part past (known st) w k' x' ->
              forall x'', life x'' = life x' ->
              takes_part (e :: past) (set (known st) me (known st me + 1)) w k' x'').
    { intros w k' x' [I [C [K L]]] x'' L'. split; [right; exact I|]. split; [apply Up, C|]. split; [exact K|congruence]. }
    assert (Mine : w_life e = life x -> takes_part (e :: past) (set (known st) me (known st me + 1)) e k x).
    { intros L. split; [left; reflexivity|]. split; [exact New|]. split; [reflexivity | exact L]. }
    pose proof (write_is_there (rows st k) k l s a (known st) x E) as U. fold e in U.
    assert (Wx : well_formed x) by (eapply write_well_formed; [|exact E]; intros; eapply versions; eauto).
    split.
    - intros k' x' X. unfold set in X. destruct (Z.eqb_spec k' k); [|eapply versions; eauto].
      injection X; intros <-. exact Wx.
    - intros k' x' X. unfold set in X. destruct (Z.eqb_spec k' k) as [->|].
      2: { destruct (base_is_written _ _ _ _ S _ _ X) as [w [T H]]. exists w. split; [eapply Old; eauto | exact H]. }
      injection X; intros <-; clear X. unfold write_row in E. destruct a as [f| |c v].
      + destruct (_ && _); [|discriminate]. injection E; intros <-. exists e. split; [apply Mine; reflexivity|].
        split; [exact I | reflexivity].
      + destruct (rows st k) as [y|]; [|discriminate]. destruct (_ && _); [|discriminate].
        injection E; intros <-. exists e. split; [apply Mine; reflexivity|]. split; [exact I | reflexivity].
      + destruct (rows st k) as [y|] eqn:Y; [|discriminate]. destruct (_ && _); [|discriminate].
        injection E; intros <-. destruct (base_is_written _ _ _ _ S _ _ Y) as [w [T H]].
        exists w. split; [eapply Old; [exact T | reflexivity] | exact H].
    - intros k' x' c v X V. unfold set in X. destruct (Z.eqb_spec k' k) as [->|].
      2: { destruct (value_is_written _ _ _ _ S _ _ _ _ X V) as [w [T H]]. exists w. split; [eapply Old; eauto | exact H]. }
      injection X; intros <-; clear X. unfold write_row in E. destruct a as [f| |c' v'].
      + destruct (_ && _); [|discriminate]. injection E; intros <-. exists e. split; [apply Mine; reflexivity|].
        simpl in V. unfold write_entry; simpl. rewrite V. reflexivity.
      + destruct (rows st k) as [y|]; [|discriminate]. destruct (_ && _); [|discriminate].
        injection E; intros <-. discriminate.
      + destruct (rows st k) as [y|] eqn:Y; [|discriminate].
        destruct (is_alive l); [|discriminate]. destruct (Z.eqb_spec (life y) l) as [L|]; [|discriminate].
        destruct (_ && _); [|discriminate]. injection E; intros <-. unfold updated, set in V; simpl in V.
        destruct (Z.eqb_spec c c') as [->|D].
        * injection V; intros <-. exists e. split; [apply Mine; simpl; congruence|].
          unfold write_entry, stamp_of, updated; simpl. rewrite set_same, Z.eqb_refl. reflexivity.
        * destruct (value_is_written _ _ _ _ S _ _ _ _ Y V) as [w [T H]].
          exists w. split; [eapply Old; [exact T | reflexivity]|].
          rewrite H. unfold stamp_of, updated; simpl. rewrite set_other by exact D. reflexivity.
    - intros w [<-|I] C.
      + exists x. split; [apply set_same | exact U].
      + destruct (writes_are_there _ _ _ _ S w I (Down w I C)) as [y [Y Uy]].
        destruct (Z.eq_dec (w_key w) k) as [K|K].
        * rewrite K in *. exists x. split; [apply set_same|]. eapply under_below; [exact Uy|].
          eapply write_above; [eapply versions; eauto | exact Y | exact E].
        * exists y. rewrite set_other by exact K. split; assumption.
  Qed.

  (** * A bundle *)

  Lemma applied_spec past st m k :
    sound past (rows st) (known st) -> sound past (b_rows m) (b_target m) -> covers (known st) (b_base m) ->
    (b_rows m k = None /\ applied_row separate st m k = rows st k) \/
    exists x z, b_rows m k = Some x /\ applied_row separate st m k = Some z /\ well_formed z /\
      same z (merged_into separate (rows st k) x) /\
      receive separate (rows st k) (told m k) (b_target m) (known st) = Some (Some z).
  Proof.
    intros S Sm C. unfold applied_row, told. destruct (b_rows m k) as [x|] eqn:X.
    - right. destruct (the_difference_is_enough separate (b_base m) x (rows st k) (b_target m) (known st))
        as [z [R [W E]]].
      + exact (versions _ _ _ _ Sm _ _ X).
      + intros r R. exact (versions _ _ _ _ S _ _ R).
      + exact (sound_holds _ _ _ _ _ _ _ _ _ Sm S X C).
      + exists x, z. rewrite R. auto.
    - left. split; reflexivity.
  Qed.

  (** What a merged row has of either side. *)
  Lemma merged_origin row x z :
    well_formed x -> (forall y, row = Some y -> well_formed y) -> well_formed z -> same z (merged_into separate row x) ->
    below x z /\ (forall y, row = Some y -> below y z) /\
    (exists y, (row = Some y \/ y = x) /\ life y = life z /\ base y = base z) /\
    forall c, exists y, (row = Some y \/ y = x) /\ life y = life z /\ entry_of y c = entry_of z c.
  Proof.
    intros Wx Wr Wz E. destruct row as [r|]; simpl in E.
    - specialize (Wr _ eq_refl). destruct (merge_above separate r x Wr Wx) as [Ar Ax].
      pose proof (same_below separate _ _ (same_sym _ _ E)) as Z.
      split; [eapply below_trans; eauto|]. split; [intros y Y; injection Y; intros <-; eapply below_trans; eauto|].
      destruct (merge_spec separate r x Wr Wx) as [_ [_ [L [B En]]]]. pose proof E as [Lz [Bz _]]. unfold pick in *.
      destruct (Z.ltb_spec (life r) (life x)); [|destruct (Z.ltb_spec (life x) (life r))].
      + split; [exists x; split; [auto|]; split; [lia | congruence]|].
        intros c. exists x. split; [auto|]. split; [lia|]. rewrite (same_entry separate _ _ c E), En. reflexivity.
      + split; [exists r; split; [auto|]; split; [lia | congruence]|].
        intros c. exists r. split; [auto|]. split; [lia|]. rewrite (same_entry separate _ _ c E), En. reflexivity.
      + split.
        * destruct (greater_or compare_stamps (base r) (base x)) as [G|G]; rewrite G in B;
            [exists r | exists x]; (split; [auto|]; split; [lia | congruence]).
        * intros c. specialize (En c). rewrite <- (same_entry separate _ _ c E) in En.
          destruct (greater_or compare_entries (entry_of r c) (entry_of x c)) as [G|G]; rewrite G in En;
            [exists r | exists x]; (split; [auto|]; split; [lia | congruence]).
    - split; [apply same_below, same_sym, E|]. split; [discriminate|]. pose proof E as [Lz [Bz _]].
      split; [exists x; auto|]. intros c. exists x. split; [auto|]. split; [auto|]. symmetry. apply same_entry. exact E.
  Qed.

  Lemma value_of_entry x c s v : entry_of x c = written s v -> values x c = Some v /\ stamp_of x c = s.
  Proof.
    unfold Entries.entry_of. destruct (values x c) as [a|].
    - intros H. apply written_injective in H as [-> ->]. auto.
    - unfold defaulted. destruct (separate c); discriminate.
  Qed.

  Lemma sound_apply past st m :
    sound past (rows st) (known st) -> sound past (b_rows m) (b_target m) -> covers (known st) (b_base m) ->
    sound past (rows (apply separate st m)) (known (apply separate st m)).
  Proof.
    intros S Sm C. simpl.
    assert (L : forall u, contains (known st) u = true -> contains (join (known st) (b_target m)) u = true)
      by (intros; rewrite contains_join, H; reflexivity).
    assert (R : forall u, contains (b_target m) u = true -> contains (join (known st) (b_target m)) u = true)
      by (intros; rewrite contains_join, H; apply orb_true_r).
    assert (Origin : forall k x z, b_rows m k = Some x -> well_formed z -> same z (merged_into separate (rows st k) x) ->
      below x z /\ (forall y, rows st k = Some y -> below y z) /\
      (exists y, (rows st k = Some y \/ y = x) /\ life y = life z /\ base y = base z) /\
      forall c, exists y, (rows st k = Some y \/ y = x) /\ life y = life z /\ entry_of y c = entry_of z c).
    { intros k x z X W E. apply merged_origin; auto;
        [exact (versions _ _ _ _ Sm _ _ X) | intros y Y; exact (versions _ _ _ _ S _ _ Y)]. }
    split.
    - intros k z Z. destruct (applied_spec past st m k S Sm C) as [[_ E]|[x [z' [X [E [W _]]]]]].
      + rewrite E in Z. exact (versions _ _ _ _ S _ _ Z).
      + congruence.
    - intros k z Z. destruct (applied_spec past st m k S Sm C) as [[_ E]|[x [z' [X [E [W [M _]]]]]]].
      + rewrite E in Z. destruct (base_is_written _ _ _ _ S _ _ Z) as [w [[I [K T]] H]].
        exists w. split; [split; [exact I|]; split; [apply L, K | exact T] | exact H].
      + assert (z' = z) by congruence. subst z'. destruct (Origin _ _ _ X W M) as [_ [_ [[y [Y [Ly By]]] _]]].
        rewrite <- By. destruct Y as [Y| ->].
        * destruct (base_is_written _ _ _ _ S _ _ Y) as [w [[I [K [T1 T2]]] H]].
          exists w. split; [split; [exact I|]; split; [apply L, K|]; split; [exact T1 | congruence] | exact H].
        * destruct (base_is_written _ _ _ _ Sm _ _ X) as [w [[I [K [T1 T2]]] H]].
          exists w. split; [split; [exact I|]; split; [apply R, K|]; split; [exact T1 | congruence] | exact H].
    - intros k z c v Z V. destruct (applied_spec past st m k S Sm C) as [[_ E]|[x [z' [X [E [W [M _]]]]]]].
      + rewrite E in Z. destruct (value_is_written _ _ _ _ S _ _ _ _ Z V) as [w [[I [K T]] H]].
        exists w. split; [split; [exact I|]; split; [apply L, K | exact T] | exact H].
      + assert (z' = z) by congruence. subst z'. destruct (Origin _ _ _ X W M) as [_ [_ [_ En]]].
        destruct (En c) as [y [Y [Ly Ey]]]. rewrite (entry_with_value separate _ _ _ V) in Ey.
        apply value_of_entry in Ey as [Vy Sy]. rewrite <- Sy. destruct Y as [Y| ->].
        * destruct (value_is_written _ _ _ _ S _ _ _ _ Y Vy) as [w [[I [K [T1 T2]]] H]].
          exists w. split; [split; [exact I|]; split; [apply L, K|]; split; [exact T1 | congruence] | exact H].
        * destruct (value_is_written _ _ _ _ Sm _ _ _ _ X Vy) as [w [[I [K [T1 T2]]] H]].
          exists w. split; [split; [exact I|]; split; [apply R, K|]; split; [exact T1 | congruence] | exact H].
    - intros w I K. rewrite contains_join in K. apply orb_true_iff in K.
      destruct (applied_spec past st m (w_key w) S Sm C) as [[N E]|[x [z [X [E [W [M _]]]]]]].
      + rewrite E. destruct K as [K|K]; [apply (writes_are_there _ _ _ _ S); assumption|].
        destruct (writes_are_there _ _ _ _ Sm w I K) as [y [Y _]]. congruence.
      + exists z. split; [exact E|]. destruct (Origin _ _ _ X W M) as [Bx [By _]].
        destruct K as [K|K].
        * destruct (writes_are_there _ _ _ _ S w I K) as [y [Y U]]. eapply under_below; eauto.
        * destruct (writes_are_there _ _ _ _ Sm w I K) as [y [Y U]].
          assert (y = x) by congruence. subst y. eapply under_below; eauto.
  Qed.
End Steps.

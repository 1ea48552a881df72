(** Deletions that are forgotten, and what takes their place.

    A floor is a vector that all replicas know that are not retired. Below it, a replica forgets that a row was
    deleted. Here it remembers, and what it would decide without its memory is compared with what it decides with it:
    [ForgottenRows] and [Tombstones] in Sources/SyncEngine/Ledger/Replicas/Tombstones.swift, and [Resync] in
    Sources/SyncEngine/Bundles/Deletions/Resync.swift.

    A row that is inserted again after its deletion was forgotten begins at life 1 again, and a late bundle can meet a row
    that it is not about. [known_writes_say_nothing] is why the receiver may leave out what it knows then
    ([ForgottenDeletions.withoutFormerWrites]), and Examples.v has what would happen otherwise. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant CipherStoreProofs.Steps.
Require Import CipherStoreProofs.Convergence.
Import ListNotations.
Local Open Scope Z_scope.

Section Floors.
  Variable separate : column -> bool.

  (** * Vectors name what was known before what they name *)

  Definition closed (past : list write) (v : vector) : Prop :=
    forall w, In w past -> contains v (w_stamp w) = true -> covers v (w_knew w).

  Record causal (w : world) : Prop := {
    replicas_closed : forall r, closed (history w) (known (replicas w r));
    bundles_closed : forall m, In m (bundles w) -> closed (history w) (b_target m) }.

  Lemma step_causal w w' : reachable separate w -> step separate w w' -> causal w -> causal w'.
  Proof.
    intros R St K. pose proof (reachable_invariant _ _ R) as I.
    destruct St as [w r k l t a st e P | w r b | w r m M C].
    - assert (E : w_stamp e = {| time := t; replica := r; sequence := known (replicas w r) r + 1 |} /\
                  known st = set (known (replicas w r)) r (known (replicas w r) r + 1) /\
                  w_knew e = known (replicas w r)).
      { unfold perform in P. destruct (write_row _ _ _ _ _); [|discriminate]. injection P; intros <- <-. auto. }
      destruct E as [Es [Ek En]].
      assert (Other : forall v, v r <= known (replicas w r) r -> closed (history w) v -> closed (e :: history w) v).
      { intros v Lv Cl x [<-|X] Cx; [|apply Cl; assumption].
        unfold contains in Cx. rewrite Es in Cx; simpl in Cx. apply Z.leb_le in Cx. lia. }
      assert (Up : covers (known st) (known (replicas w r))).
      { rewrite Ek. intros r'. unfold set. destruct (Z.eqb_spec r' r); subst; lia. }
      split; simpl.
      + intros r'. destruct (Z.eq_dec r' r) as [->|D].
        * rewrite set_same. intros x [<-|X] Cx; [rewrite En; exact Up|].
          eapply covers_trans; [exact Up|]. apply (replicas_closed _ K r x X).
          unfold contains in *. rewrite Ek in Cx. unfold set in Cx.
          destruct (Z.eqb_spec (replica (w_stamp x)) r) as [Rx|]; [|exact Cx].
          pose proof (numbers_given _ _ I x X). rewrite Rx in *. apply Z.leb_le. assumption.
        * rewrite set_other by exact D. apply Other; [apply (own_known_best _ _ I) | apply K].
      + intros m M. apply Other; [apply (targets_given _ _ I), M | apply (bundles_closed _ K), M].
    - split; simpl; [apply (replicas_closed _ K)|].
      intros m [<-|M]; [apply (replicas_closed _ K) | apply (bundles_closed _ K), M].
    - split; simpl; [|apply (bundles_closed _ K)].
      intros r'. unfold set. destruct (Z.eqb_spec r' r) as [->|]; [|apply (replicas_closed _ K)].
      simpl. intros x X Cx. rewrite contains_join in Cx. apply orb_true_iff in Cx as [Cx|Cx].
      + eapply covers_trans; [apply covers_join_l | apply (replicas_closed _ K r x X Cx)].
      + eapply covers_trans; [apply covers_join_r | apply (bundles_closed _ K m M x X Cx)].
  Qed.

  Lemma reachable_causal w : reachable separate w -> causal w.
  Proof.
    induction 1 as [|w w' R IH St]; [|eapply step_causal; eauto].
    split; simpl; [intros r x [] | contradiction].
  Qed.

  (** * The floor *)

  (** The least of what several replicas know: [Tombstones.commonVector]. *)
  Definition common (u v : vector) : vector := fun r => Z.min (u r) (v r).

  (** THEOREM floors_are_closed: What several replicas know in common includes, with each write, everything that its writer knew: so a floor that covers a deletion covers the row that it deleted. *)
  Theorem floors_are_closed past u v : closed past u -> closed past v -> closed past (common u v).
  Proof.
    intros U V w W C. assert (H : contains u (w_stamp w) = true /\ contains v (w_stamp w) = true).
    { unfold contains, common in *. rewrite !Z.leb_le in *. lia. }
    intros r. specialize (U w W (proj1 H) r). specialize (V w W (proj2 H) r). unfold common. lia.
  Qed.

  (** What a bundle says of a row that is not here, by [ForgottenRows.covers] and [AppliedRecords.merge]: whether it was
      deleted. Without a base it was, as soon as anything was forgotten. *)
  Definition says_forgotten (floor knows : vector) (ch : change) : bool :=
    match c_base ch with Some b => contains (common floor knows) b | None => true end.

  (** Of a key's insertions a deletion knew each one, or each knew the deletion: nobody inserted a row under the key
      without knowing of the other one. For keys of time or chance it is so. *)
  Definition no_stranger (past : list write) (d : write) : Prop :=
    forall i row, In i past -> w_key i = w_key d -> w_what i = Whole row ->
      contains (w_knew d) (w_stamp i) = true \/ contains (w_knew i) (w_stamp d) = true.

  (** THEOREM forgotten_deletion_decides_alike: A replica that has forgotten a deletion takes a row in exactly when it would have taken it in if it had remembered the deletion: a life that the deletion ended never comes back, and a later one is not refused. *)
  Theorem forgotten_deletion_decides_alike w r m k ch x d floor :
    reachable separate w -> In m (bundles w) -> covers (known (replicas w r)) (b_base m) ->
    (* The row is deleted here, by d, and d is below the floor. *)
    rows (replicas w r) k = Some x -> is_alive (life x) = false ->
    In d (history w) -> w_key d = k -> w_stamp d = base x -> w_life d = life x ->
    closed (history w) floor -> covers (known (replicas w r)) floor -> contains floor (w_stamp d) = true ->
    no_stranger (history w) d ->
    (* A bundle tells a row that exists. *)
    told m k = Some ch -> is_alive (c_life ch) = true ->
    says_forgotten floor (known (replicas w r)) ch = (c_life ch <? life x).
  Proof.
    intros R M C X Dx Id Kd Sd Ld Cf Kf Fd NS T A.
    pose proof (reachable_invariant _ _ R) as I. pose proof (reachable_causal _ R) as Ca.
    pose proof (replicas_sound _ _ I r) as S. pose proof (bundles_sound _ _ I m M) as Sm.
    assert (Hy : exists y, b_rows m k = Some y /\ c_life ch = life y /\ is_alive (life y) = true /\
              ((c_base ch = Some (base y) /\ contains (b_base m) (base y) = false) \/
               (c_base ch = None /\ contains (b_base m) (base y) = true))).
    { unfold told in T. destruct (b_rows m k) as [y|]; [|discriminate]. exists y. split; [reflexivity|].
      unfold export in T. destruct (is_alive (life y)) eqn:Ay.
      - injection T; intros <-. simpl. split; [reflexivity|]. split; [reflexivity|].
        destruct (contains (b_base m) (base y)); auto.
      - destruct (negb _); [|discriminate]. injection T; intros <-. simpl in A. congruence. }
    destruct Hy as [y [Y [Lc [Ay Hb]]]].
    destruct (base_is_written _ _ _ _ Sm _ _ Y) as [i [[Ii [Ci [Ki Li]]] [Hi Bi]]].
    assert (Below : contains (known (replicas w r)) (base y) = true -> life y < life x).
    { intros Ck. rewrite <- Bi in Ck. destruct (writes_are_there _ _ _ _ S i Ii Ck) as [x' [X' U]].
      rewrite Ki in X'. assert (x' = x) by congruence. subst x'.
      destruct U as [U|[U _]]; [lia|]. rewrite <- Li, U in Ay. congruence. }
    assert (Floor : life y < life x -> contains floor (base y) = true).
    { intros L. assert (Wi : exists row, w_what i = Whole row).
      { unfold is_whole in Hi. destruct (w_what i) eqn:E; [eauto | | contradiction].
        pose proof (gone_is_even _ _ _ R Ii E). congruence. }
      destruct Wi as [row Wi]. destruct (NS i row Ii) as [Kn|Kn]; try congruence.
      - rewrite <- Bi. eapply contains_covers; [apply (Cf d Id Fd) | exact Kn].
      - (* An insertion that knew the deletion is of a later life. *)
        exfalso. assert (Ct : contains (b_target m) (w_stamp d) = true).
        { eapply contains_covers; [apply (bundles_closed _ Ca m M i Ii Ci) | exact Kn]. }
        destruct (writes_are_there _ _ _ _ Sm d Id Ct) as [y' [Y' U]]. rewrite Kd in Y'.
        assert (y' = y) by congruence. subst y'. destruct U as [U|[U _]]; [lia|]. rewrite <- U, Ld in Ay. congruence. }
    unfold says_forgotten. rewrite Lc. destruct Hb as [[-> Nb]|[-> Nb]].
    - destruct (Z.ltb_spec (life y) (life x)) as [L|L].
      + pose proof (Floor L) as F. pose proof (contains_covers _ _ _ Kf F) as K.
        unfold contains, common in *. rewrite Z.leb_le in *. lia.
      + destruct (contains (common floor (known (replicas w r))) (base y)) eqn:F; [|reflexivity].
        exfalso. assert (K : contains (known (replicas w r)) (base y) = true).
        { unfold contains, common in *. rewrite Z.leb_le in *. lia. }
        specialize (Below K). lia.
    - symmetry. apply Z.ltb_lt. apply Below. exact (contains_covers _ _ _ C Nb).
  Qed.

  (** THEOREM missing_rows_were_deleted: A row that goes, because a bundle of all rows does not mention it and its sender knows a write of it, is one that the sender's forgotten deletion ends. *)
  Theorem missing_rows_were_deleted w r m k x y e :
    reachable separate w -> In m (bundles w) ->
    rows (replicas w r) k = Some x -> is_alive (life x) = true ->
    (* The sender has forgotten a deletion of the row. *)
    b_rows m k = Some y -> is_alive (life y) = false ->
    (* Something that the row shows is known to it: its base, or a value of a column. *)
    In e (history w) -> w_key e = k -> w_life e = life x -> contains (b_target m) (w_stamp e) = true ->
    life x < life y.
  Proof.
    intros R M X A Y D Ie Ke Le C. pose proof (reachable_invariant _ _ R) as I.
    destruct (writes_are_there _ _ _ _ (bundles_sound _ _ I m M) e Ie C) as [y' [Y' U]].
    rewrite Ke in Y'. assert (y' = y) by congruence. subst y'.
    destruct U as [U|[U _]]; [lia|]. rewrite <- U, Le in D. congruence.
  Qed.

  (** THEOREM known_writes_say_nothing: Of what a bundle tells of a row, the receiver may leave out every write that it knows: the row that results is the same. *)
  Theorem known_writes_say_nothing w r m k x :
    reachable separate w -> In m (bundles w) -> covers (known (replicas w r)) (b_base m) -> b_rows m k = Some x ->
    let here := replicas w r in
    let taken v := receive separate (rows here k) (export v x) (b_target m) (known here) in
    exists all rest, taken (b_base m) = Some (Some all) /\ taken (known here) = Some (Some rest) /\ same all rest.
  Proof.
    intros R M C X here taken. pose proof (reachable_invariant _ _ R) as I.
    pose proof (replicas_sound _ _ I r) as S. pose proof (bundles_sound _ _ I m M) as Sm.
    pose proof (versions _ _ _ _ Sm _ _ X) as W.
    assert (Wl : forall y, rows here k = Some y -> well_formed separate y).
    { intros y Y. exact (versions _ _ _ _ S _ _ Y). }
    destruct (the_difference_is_enough separate (b_base m) x (rows here k) (b_target m) (known here) W Wl) as [a [A [_ Sa]]].
    { eapply sound_holds; eauto. }
    destruct (the_difference_is_enough separate (known here) x (rows here k) (b_target m) (known here) W Wl) as [b [B [_ Sb]]].
    { eapply sound_holds; eauto. apply covers_refl. }
    exists a, b. split; [exact A|]. split; [exact B|]. eapply same_trans; [exact Sa|]. apply same_sym. exact Sb.
  Qed.
End Floors.

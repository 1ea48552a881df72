(** What holds of each replica and each bundle in every history: a row is the greatest of all writes that are known,
    and nothing else. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World.
Import ListNotations.
Local Open Scope Z_scope.

Section Invariant.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation well_formed := (well_formed separate).

  (** What a write says of a column. *)
  Definition write_entry (w : write) (c : column) : entry :=
    match w_what w with
    | Whole f =>
        match (if separate c then None else f c) with
        | Some v => written (w_stamp w) v
        | None => defaulted separate c (Some (w_stamp w))
        end
    | Gone => defaulted separate c (Some (w_stamp w))
    | Cell c' v => if c =? c' then written (w_stamp w) v else bottom
    end.

  Definition is_whole (w : write) : Prop := match w_what w with Cell _ _ => False | _ => True end.

  (** A version is at most another one. *)
  Definition below (x y : version) : Prop :=
    life x < life y \/ (life x = life y /\ le compare_stamps (base x) (base y) /\
      forall c, le compare_entries (entry_of x c) (entry_of y c)).

  (** A write is taken into account by a version. *)
  Definition under (w : write) (y : version) : Prop :=
    w_life w < life y \/ (w_life w = life y /\ (is_whole w -> le compare_stamps (w_stamp w) (base y)) /\
      forall c, le compare_entries (write_entry w c) (entry_of y c)).

  Lemma below_refl x : below x x.
  Proof.
    right. split; [reflexivity|]. split; [apply le_refl, total_stamps|].
    intros c. apply le_refl, total_entries.
  Qed.

  Lemma below_trans x y z : below x y -> below y z -> below x z.
  Proof.
    intros [H1|[L1 [B1 E1]]] [H2|[L2 [B2 E2]]]; try (left; lia).
    right. split; [lia|]. split; [eapply le_trans; eauto using total_stamps|].
    intros c. eapply le_trans; eauto using total_entries.
  Qed.

  Lemma under_below w x y : under w x -> below x y -> under w y.
  Proof.
    intros [H1|[L1 [B1 E1]]] [H2|[L2 [B2 E2]]]; try (left; lia).
    right. split; [lia|]. split.
    - intros H. eapply le_trans; eauto using total_stamps.
    - intros c. eapply le_trans; eauto using total_entries.
  Qed.

  Lemma same_below x y : same x y -> below x y.
  Proof.
    intros S. pose proof S as [L [B _]]. right. split; [assumption|].
    split; [rewrite B; apply le_refl, total_stamps|].
    intros c. rewrite (same_entry separate x y c S). apply le_refl, total_entries.
  Qed.

  Lemma merge_above x y : well_formed x -> well_formed y ->
    below x (merge separate x y) /\ below y (merge separate x y).
  Proof.
    intros Wx Wy. destruct (merge_spec separate x y Wx Wy) as [_ [W [L [B E]]]].
    unfold below. rewrite L, B. unfold pick in *.
    destruct (Z.ltb_spec (life x) (life y)); destruct (Z.ltb_spec (life y) (life x)); try lia;
      (split; [|]); try (left; lia); right; (split; [lia|]).
    - split; [apply le_refl, total_stamps|]. intros c. rewrite E. apply le_refl, total_entries.
    - split; [apply le_refl, total_stamps|]. intros c. rewrite E. apply le_refl, total_entries.
    - split; [apply le_greater_l, total_stamps|]. intros c. rewrite E. apply le_greater_l, total_entries.
    - split; [apply le_greater_r, total_stamps|]. intros c. rewrite E. apply le_greater_r, total_entries.
  Qed.

  Lemma written_injective s v t w : written s v = written t w -> s = t /\ v = w.
  Proof.
    unfold written, moment. destruct s, t; simpl. intros H; injection H; intros; subst. split; reflexivity.
  Qed.

  Lemma entry_with_value x c v : values x c = Some v -> entry_of x c = written (stamp_of x c) v.
  Proof. intros H. unfold Entries.entry_of. rewrite H. reflexivity. Qed.

  (** * Views: what a replica has, or a bundle tells *)

  Section View.
    Variable (past : list write) (view : key -> option version) (knows : vector).

    Definition takes_part (w : write) (k : key) (x : version) : Prop :=
      In w past /\ contains knows (w_stamp w) = true /\ w_key w = k /\ w_life w = life x.

    Record sound : Prop := {
      versions : forall k x, view k = Some x -> well_formed x;
      base_is_written : forall k x, view k = Some x ->
        exists w, takes_part w k x /\ is_whole w /\ w_stamp w = base x;
      value_is_written : forall k x c v, view k = Some x -> values x c = Some v ->
        exists w, takes_part w k x /\ write_entry w c = written (stamp_of x c) v;
      writes_are_there : forall w, In w past -> contains knows (w_stamp w) = true ->
        exists x, view (w_key w) = Some x /\ under w x }.

    Lemma value_writer k x c v : sound -> view k = Some x -> values x c = Some v ->
      exists w, takes_part w k x /\ write_entry w c = written (stamp_of x c) v /\ w_stamp w = stamp_of x c.
    Proof.
      intros S X V. destruct (value_is_written S _ _ _ _ X V) as [w [T E]]. exists w.
      split; [exact T|]. split; [exact E|]. unfold write_entry in E. destruct (w_what w).
      - destruct (if separate c then None else row c); [apply written_injective in E; apply E|].
        unfold defaulted in E. destruct (separate c); discriminate.
      - unfold defaulted in E. destruct (separate c); discriminate.
      - destruct (c =? c0); [apply written_injective in E; apply E | discriminate].
    Qed.
  End View.

  (** What a receiver knows of a sender's row, it holds. *)
  Lemma sound_holds past view knows view' knows' k x v :
    sound past view knows -> sound past view' knows' -> view k = Some x -> covers knows' v ->
    holds separate (view' k) x v.
  Proof.
    intros S S' X C. split.
    - intros Cb. destruct (base_is_written _ _ _ S _ _ X) as [w [[I [K [Wk Wl]]] [H E]]].
      destruct (writes_are_there _ _ _ S' w I) as [y [Y U]].
      { eapply contains_covers; [exact C|]. rewrite E. exact Cb. }
      rewrite Wk in Y. exists y. split; [exact Y|].
      destruct U as [L|[L [B _]]]; [left; lia|]. right. split; [lia|]. rewrite <- E. apply B, H.
    - intros c V Cb. destruct (values x c) as [a|] eqn:Va; [|congruence].
      destruct (value_writer _ _ _ _ _ _ _ S X Va) as [w [[I [K [Wk Wl]]] [E Es]]].
      destruct (writes_are_there _ _ _ S' w I) as [y [Y U]].
      { eapply contains_covers; [exact C|]. rewrite Es. exact Cb. }
      rewrite Wk in Y. exists y. split; [exact Y|].
      destruct U as [L|[L [_ U]]]; [left; lia|]. right. split; [lia|].
      rewrite (entry_with_value _ _ _ Va), <- E. apply U.
  Qed.

  (** Two views of the same writes show the same. *)
  Lemma sound_determines past view view' knows knows' :
    sound past view knows -> sound past view' knows' -> covers knows' knows ->
    forall k x, view k = Some x -> exists y, view' k = Some y /\ below x y.
  Proof.
    intros S S' C k x X.
    destruct (base_is_written _ _ _ S _ _ X) as [w [[I [K [Wk Wl]]] [H E]]].
    destruct (writes_are_there _ _ _ S' w I) as [y [Y U]]; [eapply contains_covers; eauto|].
    rewrite Wk in Y. exists y. split; [exact Y|].
    destruct U as [L|[L [B _]]]; [left; lia|]. right. split; [lia|].
    specialize (B H). rewrite E in B. split; [exact B|]. intros c.
    destruct (values x c) as [a|] eqn:Va.
    - destruct (value_writer _ _ _ _ _ _ _ S X Va) as [w' [[I' [K' [Wk' Wl']]] [E' Es']]].
      destruct (writes_are_there _ _ _ S' w' I') as [y' [Y' U']]; [eapply contains_covers; eauto|].
      rewrite Wk' in Y'. assert (y' = y) by congruence. subst y'.
      destruct U' as [L'|[L' [_ U']]]; [lia|]. rewrite (entry_with_value _ _ _ Va), <- E'. apply U'.
    - unfold Entries.entry_of at 1. rewrite Va.
      eapply le_trans; [apply total_entries | apply default_le; exact B |].
      apply default_least. eapply versions; eauto.
  Qed.
End Invariant.

(** Counters: what is shown is the base and every increment once, also where a copied file counted on under the
    identity of its original.

    [CounterShare] and [CounterTotal] in Sources/SyncEngine/Rules/Merge/CounterShare.swift. Sums are modulo 2^64 there,
    and only added and subtracted, so that what holds of integers holds of them ([wrapped_sums]). *)

Require Import ZArith List Bool Lia Permutation.
Import ListNotations.
Local Open Scope Z_scope.

(** [CounterShare.Entry], with the identity under which it was counted. *)
Record fold := { origin : Z; number : Z; timestamp : Z; nonce : Z; sum : Z }.

Definition fold_dec (a b : fold) : {a = b} + {a <> b}.
Proof. decide equality; apply Z.eq_dec. Defined.

(** A share: the sums after each fold that changed it, the oldest first. *)
Definition share := list fold.

(** [CounterShare.sum] *)
Definition last_sum (s : share) : Z := last (map sum s) 0.

Definition is_seen (seen : list fold) (e : fold) : bool := if in_dec fold_dec e seen then true else false.

(** [CounterTotal.add]: up to the last entry that was seen before, a share was counted. *)
Definition added (seen : list fold) (s : share) : Z := last_sum s - last_sum (filter (is_seen seen) s).

Fixpoint total_from (seen : list fold) (shares : list share) : Z :=
  match shares with
  | [] => 0
  | s :: rest => added seen s + total_from (s ++ seen) rest
  end.

Definition total (shares : list share) : Z := total_from [] shares.

Definition add_up (amount : fold -> Z) (l : list fold) : Z := fold_right (fun e n => amount e + n) 0 l.

Section Counting.
  (** What each fold added: the increments that a program made since the fold before it. *)
  Variable amount : fold -> Z.

  (** A share that was counted by folds, [CounterFold.add]: each sum is the one before it and what was added. *)
  Definition counted (s : share) : Prop :=
    NoDup s /\ forall p e q, s = p ++ e :: q -> sum e = last_sum p + amount e.

  (** Copies of one file: what comes before a fold is the same in both. The random number of a fold sees to it. *)
  Definition agree (s t : share) : Prop :=
    forall e p q p' q', s = p ++ e :: q -> t = p' ++ e :: q' -> p = p'.

  Lemma last_sum_snoc p e : last_sum (p ++ [e]) = sum e.
  Proof. unfold last_sum. rewrite map_app. apply last_last. Qed.

  Lemma add_up_app l m : add_up amount (l ++ m) = add_up amount l + add_up amount m.
  Proof. unfold add_up. induction l as [|e l IH]; simpl; [reflexivity|]. rewrite IH. lia. Qed.

  Lemma add_up_permutation l m : Permutation l m -> add_up amount l = add_up amount m.
  Proof. unfold add_up. induction 1; simpl; lia. Qed.

  Lemma rest_of_share q : forall p,
    (forall p' e q', p ++ q = p' ++ e :: q' -> sum e = last_sum p' + amount e) ->
    last_sum (p ++ q) = last_sum p + add_up amount q.
  Proof.
    induction q as [|e q IH]; intros p H; simpl; [rewrite app_nil_r; unfold add_up; simpl; lia|].
    replace (p ++ e :: q) with ((p ++ [e]) ++ q) by (rewrite <- app_assoc; reflexivity).
    rewrite IH.
    - rewrite last_sum_snoc. rewrite (H p e q eq_refl). unfold add_up; simpl. lia.
    - intros p' e' q' E. apply (H p' e' q'). rewrite <- E, <- app_assoc. reflexivity.
  Qed.

  (** What was seen of a share is its beginning. *)
  Lemma seen_first seen s :
    (forall p e q, s = p ++ e :: q -> In e seen -> forall x, In x p -> In x seen) ->
    s = filter (is_seen seen) s ++ filter (fun e => negb (is_seen seen e)) s.
  Proof.
    induction s as [|a s IH]; intros H; [reflexivity|]. simpl.
    destruct (is_seen seen a) eqn:Ia; simpl; unfold is_seen in Ia; destruct (in_dec fold_dec a seen) as [I|N];
      try discriminate; clear Ia.
    - f_equal. apply IH. intros p e q E J x X. apply (H (a :: p) e q); [simpl; congruence | exact J | right; exact X].
    - assert (Z : filter (is_seen seen) s = []).
      { destruct (filter (is_seen seen) s) as [|e l] eqn:F; [reflexivity|]. exfalso.
        assert (E : In e (filter (is_seen seen) s)) by (rewrite F; left; reflexivity).
        apply filter_In in E as [E J]. unfold is_seen in J. destruct (in_dec fold_dec e seen) as [J'|]; [|discriminate].
        apply in_split in E as [p [q E]]. apply N, (H (a :: p) e q); [simpl; congruence | exact J' | left; reflexivity]. }
      rewrite Z. simpl. f_equal. rewrite Z in IH. simpl in IH. apply IH.
      intros p e q E J x X. apply (H (a :: p) e q); [simpl; congruence | exact J | right; exact X].
  Qed.

  Lemma distinct_more seen s : NoDup s ->
    Permutation (nodup fold_dec (s ++ seen)) (nodup fold_dec seen ++ filter (fun e => negb (is_seen seen e)) s).
  Proof.
    intros D. assert (F : forall e, In e (filter (fun e => negb (is_seen seen e)) s) <-> In e s /\ ~ In e seen).
    { intros e. rewrite filter_In. unfold is_seen. destruct (in_dec fold_dec e seen); simpl; intuition discriminate. }
    apply NoDup_Permutation.
    - apply NoDup_nodup.
    - assert (N : forall l m : list fold, NoDup l -> NoDup m -> (forall e, In e l -> ~ In e m) -> NoDup (l ++ m)).
      { induction l as [|a l IH]; simpl; intros m Dl Dm H; [exact Dm|]. inversion Dl; subst. constructor.
        - rewrite in_app_iff. intros [J|J]; [contradiction | exact (H a (or_introl eq_refl) J)].
        - apply IH; auto. }
      apply N; [apply NoDup_nodup | apply NoDup_filter, D |].
      intros e. rewrite nodup_In, F. tauto.
    - intros e. rewrite in_app_iff, !nodup_In, in_app_iff, F. destruct (in_dec fold_dec e seen); tauto.
  Qed.

  Lemma total_from_spec shares : forall seen,
    (forall s, In s shares -> counted s) ->
    (forall s t, In s shares -> In t shares -> agree s t) ->
    (forall s p e q, In s shares -> s = p ++ e :: q -> In e seen -> forall x, In x p -> In x seen) ->
    total_from seen shares + add_up amount (nodup fold_dec seen)
      = add_up amount (nodup fold_dec (concat (rev shares) ++ seen)).
  Proof.
    induction shares as [|s rest IH]; intros seen C A P; simpl; [lia|].
    destruct (C s (or_introl eq_refl)) as [D H].
    assert (Sp := seen_first seen s (fun p e q E J => P s p e q (or_introl eq_refl) E J)).
    assert (E : added seen s = add_up amount (filter (fun e => negb (is_seen seen e)) s)).
    { unfold added. rewrite Sp at 1. rewrite rest_of_share; [lia|]. rewrite <- Sp. exact H. }
    rewrite concat_app. simpl. rewrite app_nil_r, <- app_assoc, <- (IH (s ++ seen)); clear IH.
    - rewrite E, (add_up_permutation _ _ (distinct_more seen s D)), add_up_app. lia.
    - intros t T. apply C. right. exact T.
    - intros t u T U. apply A; right; assumption.
    - intros t p e q T Et J x X. apply in_or_app. apply in_app_or in J as [J|J].
      + left. apply in_split in J as [p' [q' Es]].
        assert (p = p') by (eapply (A t s); [right; exact T | left; reflexivity | exact Et | exact Es]). subst p'.
        rewrite Es. apply in_or_app. left. exact X.
      + right. eapply (P t p e q); eauto. right. exact T.
  Qed.

  (** THEOREM counters_add_up: A counter's total is the sum of what every fold added, each once, however many shares hold it and in whatever order they are added. *)
  Theorem counters_add_up shares :
    (forall s, In s shares -> counted s) -> (forall s t, In s shares -> In t shares -> agree s t) ->
    total shares = add_up amount (nodup fold_dec (concat shares)).
  Proof.
    intros C A. unfold total.
    pose proof (total_from_spec shares [] C A (fun s p e q _ _ (J : In e []) => match J with end)) as T.
    simpl in T. rewrite app_nil_r in T. unfold add_up at 1 in T; simpl in T. rewrite Z.add_0_r in T. rewrite T.
    apply add_up_permutation, NoDup_Permutation; try apply NoDup_nodup.
    intros e. rewrite !nodup_In, !in_concat. setoid_rewrite <- in_rev. reflexivity.
  Qed.

End Counting.

(** Sums that wrap around at 64 bits in every step are the sum of all, wrapped around. *)
Lemma wrapped_sums (l : list Z) :
  let wrap n := n mod 2 ^ 64 in
  fold_right (fun n m => wrap (wrap n + m)) 0 l = wrap (fold_right Z.add 0 l).
Proof.
  simpl. induction l as [|a l IH]; [reflexivity|]. simpl. rewrite IH. symmetry. apply Zplus_mod.
Qed.

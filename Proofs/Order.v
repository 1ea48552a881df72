(** Total orders as comparison functions, and the greater of two things.

    Every law of the merge comes from here: a row is merged part by part, and of each part the greater one
    stands in some total order. *)

Require Import ZArith List Bool.
Import ListNotations.
Local Open Scope Z_scope.

(** A comparison that is a total order, whose equality is equality. *)
Record total {A : Type} (cmp : A -> A -> comparison) : Prop := {
  cmp_eq : forall x y, cmp x y = Eq <-> x = y;
  cmp_opp : forall x y, cmp y x = CompOpp (cmp x y);
  cmp_lt_trans : forall x y z, cmp x y = Lt -> cmp y z = Lt -> cmp x z = Lt }.

Lemma total_Z : total Z.compare.
Proof.
  split.
  - apply Z.compare_eq_iff.
  - intros x y. apply Z.compare_antisym.
  - intros x y z. rewrite !Z.compare_lt_iff. apply Z.lt_trans.
Qed.

Definition lex {A B : Type} (ca : A -> A -> comparison) (cb : B -> B -> comparison) (x y : A * B) : comparison :=
  match ca (fst x) (fst y) with Eq => cb (snd x) (snd y) | other => other end.

Lemma total_lex {A B : Type} (ca : A -> A -> comparison) (cb : B -> B -> comparison) :
  total ca -> total cb -> total (lex ca cb).
Proof.
  intros [ea oa ta] [eb ob tb]. split; unfold lex.
  - intros [a b] [a' b']; simpl. destruct (ca a a') eqn:E.
    + apply ea in E; subst. rewrite eb. split; congruence.
    + split; [discriminate|]. intros H; injection H; intros; subst.
      assert (ca a' a' = Eq) by (apply ea; reflexivity). congruence.
    + split; [discriminate|]. intros H; injection H; intros; subst.
      assert (ca a' a' = Eq) by (apply ea; reflexivity). congruence.
  - intros [a b] [a' b']; simpl. rewrite (oa a a'). destruct (ca a a'); simpl; auto.
  - intros [a b] [a' b'] [a'' b'']; simpl.
    destruct (ca a a') eqn:E1; intros H1; try discriminate;
      destruct (ca a' a'') eqn:E2; intros H2; try discriminate.
    + apply ea in E1. apply ea in E2. subst.
      replace (ca a'' a'') with Eq by (symmetry; apply ea; reflexivity). eauto.
    + apply ea in E1. subst. rewrite E2. reflexivity.
    + apply ea in E2. subst. rewrite E1. reflexivity.
    + rewrite (ta a a' a'') by assumption. reflexivity.
Qed.

(** Nothing is less than something. *)
Definition opt {A : Type} (ca : A -> A -> comparison) (x y : option A) : comparison :=
  match x, y with
  | None, None => Eq
  | None, Some _ => Lt
  | Some _, None => Gt
  | Some a, Some b => ca a b
  end.

Lemma total_opt {A : Type} (ca : A -> A -> comparison) : total ca -> total (opt ca).
Proof.
  intros [ea oa ta]. split; unfold opt.
  - intros [a|] [b|]; rewrite ?ea; split; congruence.
  - intros [a|] [b|]; simpl; auto.
  - intros [a|] [b|] [c|]; simpl; try discriminate; eauto.
Qed.

(** Bytes in their order; a text is less than one that it begins. *)
Fixpoint bytes (x y : list Z) : comparison :=
  match x, y with
  | [], [] => Eq
  | [], _ :: _ => Lt
  | _ :: _, [] => Gt
  | a :: x', b :: y' => match a ?= b with Eq => bytes x' y' | other => other end
  end.

Lemma total_bytes : total bytes.
Proof.
  split.
  - induction x as [|a x IH]; destruct y as [|b y]; simpl; try (split; congruence).
    destruct (a ?= b) eqn:E.
    + apply Z.compare_eq_iff in E; subst. rewrite IH. split; congruence.
    + split; [discriminate|]. intros H; injection H; intros; subst. rewrite Z.compare_refl in E. discriminate.
    + split; [discriminate|]. intros H; injection H; intros; subst. rewrite Z.compare_refl in E. discriminate.
  - induction x as [|a x IH]; destruct y as [|b y]; simpl; auto.
    rewrite (Z.compare_antisym a b). destruct (a ?= b); simpl; auto.
  - induction x as [|a x IH]; destruct y as [|b y]; destruct z as [|c z]; simpl; try discriminate; auto.
    destruct (a ?= b) eqn:E1; destruct (b ?= c) eqn:E2; intros H1 H2; try discriminate.
    + apply Z.compare_eq_iff in E1, E2; subst. rewrite Z.compare_refl. eauto.
    + apply Z.compare_eq_iff in E1; subst. rewrite E2. reflexivity.
    + apply Z.compare_eq_iff in E2; subst. rewrite E1. reflexivity.
    + rewrite Z.compare_lt_iff in E1, E2. rewrite (proj2 (Z.compare_lt_iff a c)); eauto using Z.lt_trans.
Qed.

(** The order of what a total order is about, seen through a function that takes no two things for one. *)
Lemma total_by {A B : Type} (f : A -> B) (cb : B -> B -> comparison) :
  (forall x y, f x = f y -> x = y) -> total cb -> total (fun x y => cb (f x) (f y)).
Proof.
  intros inj [eb ob tb]. split; intros.
  - rewrite eb. split; [apply inj | congruence].
  - apply ob.
  - eauto.
Qed.

(** * At most, and the greater one *)

Section Greater.
  Context {A : Type} (cmp : A -> A -> comparison) (T : total cmp).

  Definition le (x y : A) : Prop := cmp x y <> Gt.

  (** The greater one; the first one when both are equal. *)
  Definition greater (x y : A) : A := match cmp x y with Lt => y | _ => x end.

  Lemma cmp_refl x : cmp x x = Eq.
  Proof. apply (cmp_eq _ T). reflexivity. Qed.

  Lemma cmp_gt_lt x y : cmp x y = Gt <-> cmp y x = Lt.
  Proof. rewrite (cmp_opp _ T x y). destruct (cmp x y); simpl; split; congruence. Qed.

  Lemma le_refl x : le x x.
  Proof. unfold le. rewrite cmp_refl. discriminate. Qed.

  Lemma le_trans x y z : le x y -> le y z -> le x z.
  Proof.
    unfold le. intros H1 H2 H3. apply cmp_gt_lt in H3.
    destruct (cmp x y) eqn:E1; [| |congruence].
    - apply (cmp_eq _ T) in E1; subst. apply H2. apply cmp_gt_lt. exact H3.
    - apply H2. apply cmp_gt_lt. exact (cmp_lt_trans _ T _ _ _ H3 E1).
  Qed.

  Lemma le_antisym x y : le x y -> le y x -> x = y.
  Proof.
    unfold le. intros H1 H2. destruct (cmp x y) eqn:E; [| |congruence].
    - apply (cmp_eq _ T). exact E.
    - exfalso. apply H2. apply cmp_gt_lt. exact E.
  Qed.

  Lemma le_or_lt x y : le x y \/ cmp y x = Lt.
  Proof. unfold le. rewrite (cmp_opp _ T x y). destruct (cmp x y); simpl; auto; left; discriminate. Qed.

  Lemma lt_le x y : cmp x y = Lt -> le x y.
  Proof. unfold le. congruence. Qed.

  Lemma not_lt_le x y : cmp x y <> Lt -> le y x.
  Proof. unfold le. intros H E. apply H. apply cmp_gt_lt. exact E. Qed.

  Lemma lt_not_le x y : cmp x y = Lt -> ~ le y x.
  Proof. unfold le. intros H E. apply E. apply cmp_gt_lt. exact H. Qed.

  Lemma le_greater_l x y : le x (greater x y).
  Proof. unfold greater. destruct (cmp x y) eqn:E; try apply le_refl. apply lt_le. exact E. Qed.

  Lemma le_greater_r x y : le y (greater x y).
  Proof.
    unfold greater. destruct (cmp x y) eqn:E.
    - apply (cmp_eq _ T) in E; subst. apply le_refl.
    - apply le_refl.
    - apply lt_le. apply cmp_gt_lt. exact E.
  Qed.

  Lemma greater_or x y : greater x y = x \/ greater x y = y.
  Proof. unfold greater. destruct (cmp x y); auto. Qed.

  Lemma greater_least x y z : le x z -> le y z -> le (greater x y) z.
  Proof. intros. destruct (greater_or x y) as [-> | ->]; assumption. Qed.

  Lemma greater_l x y : le y x -> greater x y = x.
  Proof. intros. apply le_antisym; [apply greater_least; auto using le_refl | apply le_greater_l]. Qed.

  Lemma greater_r x y : le x y -> greater x y = y.
  Proof. intros. apply le_antisym; [apply greater_least; auto using le_refl | apply le_greater_r]. Qed.

  Lemma greater_idem x : greater x x = x.
  Proof. apply greater_l, le_refl. Qed.

  Lemma greater_comm x y : greater x y = greater y x.
  Proof. apply le_antisym; apply greater_least; auto using le_greater_l, le_greater_r. Qed.

  Lemma greater_assoc x y z : greater (greater x y) z = greater x (greater y z).
  Proof.
    apply le_antisym; repeat apply greater_least;
      eauto using le_trans, le_greater_l, le_greater_r.
  Qed.
End Greater.

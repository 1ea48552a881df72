(** The policies max and min: of two values that were written without knowing of each other.

    [ExtremePolicy] in Sources/SyncEngine/Rules/Merge/ExtremePolicy.swift. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row.
Import ListNotations.
Local Open Scope Z_scope.

Section Extremes.
  (** Where a number stands among all integers and reals, exactly, and whether a real is none. *)
  Variables (place : value -> Z) (is_nan : value -> bool).
  Variable is_greatest : bool.

  (** What SQLite orders by: the class ([ExtremePolicy.rank]) and the place in it. Nothing for a value that is none. *)
  Definition place_of (v : value) : option (Z * (Z * list Z)) :=
    match v with
    | Null => None
    | Int _ => Some (1, (place v, []))
    | Real _ => if is_nan v then None else Some (1, (place v, []))
    | Text b => Some (2, (0, b))
    | Blob b => Some (3, (0, b))
    end.

  Definition compare_places : Z * (Z * list Z) -> Z * (Z * list Z) -> comparison :=
    lex Z.compare (lex Z.compare bytes).

  (** [ExtremePolicy.prefers]: whether the older value stands. *)
  Definition prefers (lost won : value) : bool :=
    match place_of lost, place_of won with
    | Some l, Some w =>
        match compare_places l w with Gt => is_greatest | Lt => negb is_greatest | Eq => false end
    | Some _, None => true
    | None, _ => false
    end.

  Definition stands (lost won : value) : value := if prefers lost won then lost else won.

  (** The order in which the one that stands is the greater one. No value is less than any. *)
  Definition compare_places_for (x y : Z * (Z * list Z)) : comparison :=
    if is_greatest then compare_places x y else compare_places y x.

  Lemma total_places : total (opt compare_places_for).
  Proof.
    apply total_opt. assert (T : total compare_places).
    { apply total_lex; [apply total_Z | apply total_lex; [apply total_Z | apply total_bytes]]. }
    unfold compare_places_for. destruct is_greatest; [exact T|]. split.
    - intros x y. rewrite (cmp_eq _ T). split; congruence.
    - intros x y. apply (cmp_opp _ T).
    - intros x y z H1 H2. exact (cmp_lt_trans _ T _ _ _ H2 H1).
  Qed.

  Lemma stands_is_extreme lost won :
    place_of (stands lost won) = greater (opt compare_places_for) (place_of lost) (place_of won).
  Proof.
    assert (T : total compare_places).
    { apply total_lex; [apply total_Z | apply total_lex; [apply total_Z | apply total_bytes]]. }
    unfold stands, prefers, greater, compare_places_for.
    destruct (place_of lost) as [l|] eqn:L; destruct (place_of won) as [w|] eqn:W; simpl; try congruence.
    rewrite (cmp_opp _ T l w). destruct (compare_places l w) eqn:E; destruct is_greatest; simpl; try congruence.
    all: apply (cmp_eq _ T) in E; congruence.
  Qed.

  (** THEOREM max_and_min: Of two concurrent values the greater one stands under max and the smaller one under min, in SQLite's order and whichever was written later; NULL gives way; of two that are equal in that order the later one stands. *)
  Theorem max_and_min lost won :
    place_of (stands lost won) = greater (opt compare_places_for) (place_of lost) (place_of won) /\
    place_of (stands won lost) = place_of (stands lost won) /\
    (place_of lost = place_of won -> stands lost won = won).
  Proof.
    split; [apply stands_is_extreme|]. split.
    - rewrite !stands_is_extreme. apply greater_comm, total_places.
    - intros E. unfold stands, prefers. rewrite E. destruct (place_of won) as [p|]; [|reflexivity].
      assert (T : total compare_places).
      { apply total_lex; [apply total_Z | apply total_lex; [apply total_Z | apply total_bytes]]. }
      rewrite (cmp_refl _ T). reflexivity.
  Qed.

  (** THEOREM max_and_min_of_many: Of any number of values that are compared two by two, the extreme of all stands, in whatever order and grouping. *)
  Theorem max_and_min_of_many a b c :
    place_of (stands (stands a b) c) = place_of (stands a (stands b c)) /\
    place_of (stands a (stands a b)) = place_of (stands a b).
  Proof.
    rewrite !stands_is_extreme. split; [apply greater_assoc, total_places|].
    rewrite <- (greater_assoc _ total_places), (greater_idem _ total_places). reflexivity.
  Qed.
End Extremes.

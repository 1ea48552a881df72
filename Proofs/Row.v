(** Values, stamps, and the versions of a row, as SyncWire and SyncEngine have them. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order.
Import ListNotations.
Local Open Scope Z_scope.

(** * Values: [WireValue] in Sources/SyncWire/Values/WireValue.swift *)

(** A real number stands for its rank: the bits as an integer that rises with the number ([WireValue.rank]), by
    which the code compares reals. *)
Inductive value :=
  | Null
  | Int (number : Z)
  | Real (rank : Z)
  | Text (content : list Z)
  | Blob (content : list Z).

Definition value_code (v : value) : Z * (Z * list Z) :=
  match v with
  | Null => (0, (0, []))
  | Int n => (1, (n, []))
  | Real n => (2, (n, []))
  | Text b => (3, (0, b))
  | Blob b => (4, (0, b))
  end.

(** [WireValue.compare]: by type, then by content. *)
Definition compare_values (v w : value) : comparison :=
  lex Z.compare (lex Z.compare bytes) (value_code v) (value_code w).

Lemma total_values : total compare_values.
Proof.
  apply (total_by value_code (lex Z.compare (lex Z.compare bytes))).
  - intros [] []; simpl; congruence.
  - apply total_lex; [apply total_Z | apply total_lex; [apply total_Z | apply total_bytes]].
Qed.

(** * Stamps: [Stamp] in Sources/SyncWire/Values/HybridTimestamp.swift *)

(** A replica's identifier is the number that its 16 bytes are. *)
Record stamp := { time : Z; replica : Z; sequence : Z }.

Definition moment (s : stamp) : Z * Z := (time s, replica s).

Definition compare_moments : Z * Z -> Z * Z -> comparison := lex Z.compare Z.compare.

Lemma total_moments : total compare_moments.
Proof. apply total_lex; apply total_Z. Qed.

(** [Stamp.isNewer(than:)]: by time, then by replica. *)
Definition is_newer (s other : stamp) : bool :=
  match compare_moments (moment s) (moment other) with Gt => true | _ => false end.

Definition stamp_eq (s t : stamp) : bool :=
  (time s =? time t) && (replica s =? replica t) && (sequence s =? sequence t).

Lemma stamp_eq_spec s t : stamp_eq s t = true <-> s = t.
Proof.
  destruct s, t; unfold stamp_eq; simpl. rewrite !andb_true_iff, !Z.eqb_eq. split.
  - intros [[-> ->] ->]. reflexivity.
  - intros H; injection H; auto.
Qed.

(** [Merge.newest]: of one moment the greater sequence. It is the greater one in this order. *)
Definition compare_stamps (s t : stamp) : comparison :=
  lex compare_moments Z.compare (moment s, sequence s) (moment t, sequence t).

Lemma total_stamps : total compare_stamps.
Proof.
  apply (total_by (fun s => (moment s, sequence s)) (lex compare_moments Z.compare)).
  - intros [a b c] [a' b' c']; unfold moment; simpl. congruence.
  - apply total_lex; [apply total_moments | apply total_Z].
Qed.

Definition newest (s : stamp) (other : option stamp) : stamp :=
  match other with
  | None => s
  | Some o =>
      if is_newer o s then o
      else if negb (is_newer s o) && (sequence s <? sequence o) then o else s
  end.

Arguments newest : simpl never.

Lemma newest_greater s o : newest s (Some o) = greater compare_stamps s o.
Proof.
  unfold newest, greater, is_newer, compare_stamps, lex at 1; simpl.
  rewrite (cmp_opp _ total_moments (moment s) (moment o)).
  destruct (compare_moments (moment s) (moment o)) eqn:E; simpl; auto.
  unfold Z.ltb. destruct (sequence s ?= sequence o); reflexivity.
Qed.

(** * Versions: [RowVersion] in Sources/SyncEngine/Rules/Merge/RowVersion.swift *)

Definition column := Z.

Record version := {
  life : Z;                          (* odd while the row exists *)
  base : stamp;                      (* the last write of the whole row *)
  cells : column -> option stamp;    (* the writes of single columns after that *)
  values : column -> option value }. (* empty for a deleted row *)

Definition is_alive (life : Z) : bool := Z.odd life.

(** [RowVersion.stamp(ofColumn:)] *)
Definition stamp_of (x : version) (c : column) : stamp :=
  match cells x c with Some s => s | None => base x end.

(** [RowChange]: what a peer says of a row. *)
Record change := {
  c_life : Z;
  c_base : option stamp;                        (* when it is new *)
  c_writes : column -> option (stamp * value) }.

(** All of a row, as a peer tells somebody who knows nothing. *)
Definition all_of (x : version) : change :=
  {| c_life := life x; c_base := Some (base x);
     c_writes := fun c => option_map (fun v => (stamp_of x c, v)) (values x c) |}.

(** Two versions are the same row: the same life and base, and in each column the same stamp and value. *)
Definition same (x y : version) : Prop :=
  life x = life y /\ base x = base y /\ forall c, cells x c = cells y c /\ values x c = values y c.

(** * Vectors: [VersionVector] in Sources/SyncWire/Values/VersionVector.swift *)

Definition vector := Z -> Z.

Definition nothing : vector := fun _ => 0.

(** [VersionVector.contains] *)
Definition contains (v : vector) (s : stamp) : bool := sequence s <=? v (replica s).

(** [VersionVector.covers] *)
Definition covers (v w : vector) : Prop := forall r, w r <= v r.

(** [VersionVector.join] *)
Definition join (v w : vector) : vector := fun r => Z.max (v r) (w r).

Lemma contains_covers v w s : covers v w -> contains w s = true -> contains v s = true.
Proof. unfold covers, contains. intros H. rewrite !Z.leb_le. specialize (H (replica s)). lia. Qed.

Lemma contains_join v w s : contains (join v w) s = contains v s || contains w s.
Proof.
  unfold contains, join. destruct (Z.leb_spec (sequence s) (v (replica s)));
    destruct (Z.leb_spec (sequence s) (w (replica s))); simpl; rewrite ?Z.leb_le, ?Z.leb_gt; lia.
Qed.

Lemma covers_refl v : covers v v.
Proof. unfold covers. lia. Qed.

Lemma covers_trans u v w : covers u v -> covers v w -> covers u w.
Proof. unfold covers. intros H1 H2 r. specialize (H1 r); specialize (H2 r). lia. Qed.

Lemma covers_join_l v w : covers (join v w) v.
Proof. unfold covers, join. lia. Qed.

Lemma covers_join_r v w : covers (join v w) w.
Proof. unfold covers, join. lia. Qed.

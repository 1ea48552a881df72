(** What the versions of a row are, and a column of one as a single thing that is less or greater. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Local Open Scope Z_scope.

(** * A column as one thing: since when, and which value of which change *)

(** No moment: nothing is said of the column. A moment without a value: it is at its default since then. *)
Definition entry := (option (Z * Z) * option (value * Z))%type.

Definition compare_entries : entry -> entry -> comparison :=
  lex (opt compare_moments) (opt (lex compare_values Z.compare)).

Lemma total_entries : total compare_entries.
Proof.
  apply total_lex; apply total_opt; [apply total_moments |].
  apply total_lex; [apply total_values | apply total_Z].
Qed.

Definition bottom : entry := (None, None).

Definition written (s : stamp) (v : value) : entry := (Some (moment s), Some (v, sequence s)).

Definition defaulted (separate : column -> bool) (c : column) (b : option stamp) : entry :=
  if separate c then bottom else (option_map moment b, None).

Definition entry_of (separate : column -> bool) (x : version) (c : column) : entry :=
  match values x c with
  | Some v => written (stamp_of x c) v
  | None => defaulted separate c (Some (base x))
  end.

Definition change_entry (separate : column -> bool) (ch : change) (c : column) : entry :=
  match c_writes ch c with
  | Some (s, v) => written s v
  | None => defaulted separate c (c_base ch)
  end.

(** * What is a version *)

(** What the engine's versions are: a cell is there for a column that has a value and another stamp than the
    row, and it is not older than the row unless it is a share of a counter. A deleted row has neither. *)
Record well_formed (separate : column -> bool) (x : version) : Prop := {
  cell_has_value : forall c s, cells x c = Some s -> values x c <> None;
  cell_differs : forall c s, cells x c = Some s -> s <> base x;
  cell_above_base : forall c s, cells x c = Some s -> separate c = false -> is_newer (base x) s = false;
  dead_is_empty : is_alive (life x) = false -> forall c, cells x c = None /\ values x c = None }.

(** What the engine tells: a cell is not older than the write of the row that comes with it. *)
Record well_formed_change (separate : column -> bool) (ch : change) : Prop := {
  write_above_base : forall c s v b, c_writes ch c = Some (s, v) -> c_base ch = Some b ->
    separate c = false -> is_newer b s = false;
  dead_tells_nothing : is_alive (c_life ch) = false -> forall c, c_writes ch c = None }.

Lemma is_newer_irrefl s : is_newer s s = false.
Proof. unfold is_newer. rewrite (cmp_refl _ total_moments). reflexivity. Qed.

Lemma stamp_above_base separate x c :
  well_formed separate x -> separate c = false -> is_newer (base x) (stamp_of x c) = false.
Proof.
  intros W S. unfold stamp_of. destruct (cells x c) eqn:E.
  - eapply cell_above_base; eauto.
  - apply is_newer_irrefl.
Qed.

Lemma all_of_well_formed separate x : well_formed separate x -> well_formed_change separate (all_of x).
Proof.
  intros W. split; simpl.
  - intros c s v b H1 H2 S. injection H2; intros <-.
    destruct (values x c); simpl in H1; [|discriminate]. injection H1; intros; subst.
    eapply stamp_above_base; eassumption.
  - intros D c. destruct (dead_is_empty _ _ W D c) as [_ ->]. reflexivity.
Qed.

Lemma change_entry_all_of separate x c : change_entry separate (all_of x) c = entry_of separate x c.
Proof. unfold change_entry, entry_of, all_of; simpl. destruct (values x c); reflexivity. Qed.

(** A version is its life, its base and its columns. *)
Lemma entries_determine separate x y :
  well_formed separate x -> well_formed separate y -> life x = life y -> base x = base y ->
  (forall c, entry_of separate x c = entry_of separate y c) -> same x y.
Proof.
  intros Wx Wy L B E. split; [assumption|]. split; [assumption|]. intros c. specialize (E c).
  assert (V : values x c = values y c /\ (values x c <> None -> stamp_of x c = stamp_of y c)).
  { unfold entry_of, written, defaulted in E. destruct (values x c), (values y c); destruct (separate c);
      inversion E; try (split; congruence).
    all: split; [reflexivity|]; intros _; destruct (stamp_of x c), (stamp_of y c); unfold moment in *; simpl in *;
      congruence. }
  destruct V as [V S]. split; [|exact V].
  destruct (cells x c) eqn:Cx; destruct (cells y c) eqn:Cy; try reflexivity.
  - assert (S' := S (cell_has_value _ _ Wx _ _ Cx)). unfold stamp_of in S'. rewrite Cx, Cy in S'. congruence.
  - assert (S' := S (cell_has_value _ _ Wx _ _ Cx)). unfold stamp_of in S'. rewrite Cx, Cy in S'.
    exfalso. apply (cell_differs _ _ Wx _ _ Cx). congruence.
  - assert (N : values x c <> None) by (rewrite V; eapply cell_has_value; eauto).
    assert (S' := S N). unfold stamp_of in S'. rewrite Cx, Cy in S'.
    exfalso. apply (cell_differs _ _ Wy _ _ Cy). congruence.
Qed.

Lemma same_refl x : same x x.
Proof. repeat split. Qed.

Lemma same_sym x y : same x y -> same y x.
Proof. intros [L [B C]]. repeat split; try symmetry; auto; apply C. Qed.

Lemma same_trans x y z : same x y -> same y z -> same x z.
Proof.
  intros [L [B C]] [L' [B' C']]. split; [congruence|]. split; [congruence|].
  intros c. destruct (C c), (C' c). split; congruence.
Qed.

Lemma same_well_formed separate x y : same x y -> well_formed separate x -> well_formed separate y.
Proof.
  intros [L [B C]] W. split.
  - intros c s E. destruct (C c) as [C1 C2]. rewrite <- C2. rewrite <- C1 in E. eapply cell_has_value; eauto.
  - intros c s E. destruct (C c) as [C1 C2]. rewrite <- B. rewrite <- C1 in E. eapply cell_differs; eauto.
  - intros c s E. destruct (C c) as [C1 C2]. rewrite <- B. rewrite <- C1 in E. eapply cell_above_base; eauto.
  - intros D c. destruct (C c) as [<- <-]. eapply dead_is_empty; eauto. congruence.
Qed.

Lemma same_entry separate x y c : same x y -> entry_of separate x c = entry_of separate y c.
Proof.
  intros [L [B C]]. destruct (C c) as [C1 C2]. unfold entry_of, stamp_of. rewrite C1, C2, B. reflexivity.
Qed.

(** * One life: column by column *)

Lemma stamp_of_cell_beside (w b : stamp) :
  match cell_beside b w with Some s => s | None => b end = w.
Proof.
  unfold cell_beside. destruct (stamp_eq w b) eqn:E; [|reflexivity].
  apply stamp_eq_spec in E. congruence.
Qed.

Lemma newer_le s t : is_newer s t = false <-> le compare_moments (moment s) (moment t).
Proof. unfold is_newer, le. destruct (compare_moments (moment s) (moment t)); split; congruence. Qed.

Lemma newer_lt s t : is_newer s t = true <-> compare_moments (moment t) (moment s) = Lt.
Proof.
  unfold is_newer. rewrite <- (cmp_gt_lt _ total_moments).
  destruct (compare_moments (moment s) (moment t)); split; congruence.
Qed.

Lemma not_newer_trans a b c : is_newer a b = false -> is_newer b c = false -> is_newer a c = false.
Proof. rewrite !newer_le. apply le_trans, total_moments. Qed.

Lemma newer_asym a b : is_newer a b = true -> is_newer b a = false.
Proof. rewrite newer_lt, newer_le. intros H. apply lt_le. exact H. Qed.

Lemma same_moment a b : is_newer a b = false -> is_newer b a = false -> moment a = moment b.
Proof. rewrite !newer_le. apply le_antisym, total_moments. Qed.

Lemma newest_of_newer s o : is_newer s o = true -> newest s (Some o) = s.
Proof. intros H. unfold newest. rewrite (newer_asym _ _ H), H. reflexivity. Qed.

Lemma newest_moment s o : is_newer s o = false -> moment (newest s (Some o)) = moment o.
Proof.
  intros H. unfold newest. destruct (is_newer o s) eqn:E; [reflexivity|]. rewrite H; simpl.
  destruct (sequence s <? sequence o); [reflexivity|]. apply same_moment; assumption.
Qed.

Lemma greater_written s v t w :
  greater compare_entries (written s v) (written t w) =
    if is_newer t s then written t w
    else if is_newer s t then written s v
    else match compare_values w v with
         | Gt => written t w | Lt => written s v | Eq => written (newest s (Some t)) v end.
Proof.
  unfold greater, compare_entries, lex at 1, written, is_newer; simpl.
  rewrite (cmp_opp _ total_moments (moment s) (moment t)).
  destruct (compare_moments (moment s) (moment t)) eqn:E; simpl; try reflexivity.
  unfold lex; simpl. rewrite (cmp_opp _ total_values v w).
  destruct (compare_values v w) eqn:V; simpl; try reflexivity.
  apply (cmp_eq _ total_moments) in E. apply (cmp_eq _ total_values) in V. subst w.
  unfold newest, is_newer. rewrite E, (cmp_refl _ total_moments); simpl.
  unfold Z.ltb. destruct (sequence s ?= sequence t); rewrite ?E; reflexivity.
Qed.

Lemma greater_default_written b s v :
  greater compare_entries (Some (moment b), None) (written s v) =
    if is_newer b s then (Some (moment b), None) else written s v.
Proof.
  unfold greater, compare_entries, lex at 1, written, is_newer; simpl.
  destruct (compare_moments (moment b) (moment s)); reflexivity.
Qed.

Lemma greater_written_default b s v :
  greater compare_entries (written s v) (Some (moment b), None) =
    if is_newer b s then (Some (moment b), None) else written s v.
Proof. rewrite (greater_comm _ total_entries). apply greater_default_written. Qed.

Lemma greater_defaults b b' :
  greater compare_entries (Some (moment b), None) (Some (moment b'), None)
    = (Some (moment (newest b (Some b'))), None).
Proof.
  rewrite newest_greater. unfold greater, compare_entries, compare_stamps, lex; simpl.
  destruct (compare_moments (moment b) (moment b')) eqn:E; try reflexivity.
  destruct (sequence b ?= sequence b'); try reflexivity.
  apply (cmp_eq _ total_moments) in E. congruence.
Qed.

Lemma greater_bottom_l e : greater compare_entries bottom e = e.
Proof.
  destruct e as [[m|] [v|]]; reflexivity.
Qed.

Lemma greater_bottom_r e : greater compare_entries e bottom = e.
Proof. rewrite (greater_comm _ total_entries). apply greater_bottom_l. Qed.

(** The value and the stamp of a column after the merge, see [carry_out]. *)
Definition value_after (local : version) (o : outcome) (c : column) : option value :=
  match o_write o with Some v => Some v | None => if o_reset o then None else values local c end.

Definition stamp_after (o : outcome) (b : stamp) : stamp := match o_cell o with Some s => s | None => b end.

Definition entry_after (separate : column -> bool) (local : version) (o : outcome) (b : stamp) (c : column) : entry :=
  match value_after local o c with
  | Some v => written (stamp_after o b) v
  | None => defaulted separate c (Some b)
  end.

Lemma cell_beside_differs b w s : cell_beside b w = Some s -> s = w /\ s <> b.
Proof.
  unfold cell_beside. destruct (stamp_eq w b) eqn:E; [discriminate|].
  intros H; injection H; intros <-. split; [reflexivity|]. intros ->.
  rewrite (proj2 (stamp_eq_spec b b) eq_refl) in E. discriminate.
Qed.


(** What it means that a value is accounted for, and that a write of a replica loses none. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant CipherStoreProofs.Steps.
Import ListNotations.
Local Open Scope Z_scope.

Section Account.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation write_entry := (write_entry separate).
  Local Notation sound := (sound separate).

  (** A write gives a column a value. *)
  Definition says (w : write) (c : column) (v : value) : Prop := write_entry w c = written (w_stamp w) v.

  (** A write stands above what another one says of a column. *)
  Definition beats (w' w : write) (c : column) : Prop :=
    w_key w' = w_key w /\
    (w_life w < w_life w' \/
     (w_life w = w_life w' /\ compare_entries (write_entry w c) (write_entry w' c) = Lt)).

  Definition shows (row : option version) (l : Z) (c : column) (v : value) : Prop :=
    exists x, row = Some x /\ life x = l /\ values x c = Some v.

  Section Where.
    (** What was written, and what any journal holds: of a key, a life and a column the stamp and the value. *)
    Variables (past : list write) (kept : key -> Z -> column -> stamp -> value -> Prop).

    (** Where a value that gave way is. *)
    Inductive gave_way (w : write) (c : column) (v : value) : Prop :=
      | Replaced w' : In w' past -> beats w' w c -> contains (w_knew w') (w_stamp w) = true -> gave_way w c v
      | Journaled : kept (w_key w) (w_life w) c (w_stamp w) v -> gave_way w c v
      (** A NULL, in whose place a newer write of the whole row leaves the column at its default. *)
      | NoValue w' : v = Null -> In w' past -> is_whole w' -> w_key w' = w_key w -> w_life w' = w_life w ->
          is_newer (w_stamp w') (w_stamp w) = true -> gave_way w c v.

    (** A value of a life: it is shown, or it gave way. Of several equal values one says where all are. *)
    Definition accounted (row : option version) (k : key) (l : Z) (c : column) (v : value) : Prop :=
      shows row l c v \/
      exists w, In w past /\ w_key w = k /\ w_life w = l /\ says w c v /\ gave_way w c v.

    Definition nothing_lost (view : key -> option version) (knows : vector) : Prop :=
      forall w c v, In w past -> contains knows (w_stamp w) = true -> says w c v ->
        accounted (view (w_key w)) (w_key w) (w_life w) c v.
  End Where.

  Lemma gave_way_more (past past' : list write) (kept kept' : key -> Z -> column -> stamp -> value -> Prop) w c v :
    (forall x, In x past -> In x past') -> (forall k l c s v, kept k l c s v -> kept' k l c s v) ->
    gave_way past kept w c v -> gave_way past' kept' w c v.
  Proof. intros P K [w' I B C | J | w' N I H]; [eapply Replaced | apply Journaled | eapply NoValue]; eauto. Qed.

  Lemma accounted_more (past past' : list write) (kept kept' : key -> Z -> column -> stamp -> value -> Prop) row k l c v :
    (forall x, In x past -> In x past') -> (forall k l c s v, kept k l c s v -> kept' k l c s v) ->
    accounted past kept row k l c v -> accounted past' kept' row k l c v.
  Proof.
    intros P K [S|[w [I [Wk [Wl [Sa G]]]]]]; [left; exact S|]. right. exists w. repeat split; auto.
    eapply gave_way_more; eauto.
  Qed.

  (** * A write *)

  Lemma lost_by_write past (kept : key -> Z -> column -> stamp -> value -> Prop) past' me st k l t a st' e :
    sound past (rows st) (known st) -> perform separate me st k l t a = Some (st', e) ->
    (forall x, In x past -> In x past') -> In e past' ->
    nothing_lost past kept (rows st) (known st) ->
    forall w c v, In w past -> contains (known st) (w_stamp w) = true -> says w c v ->
      accounted past' kept (rows st' (w_key w)) (w_key w) (w_life w) c v.
  Proof.
    intros S P Sub Ie N w c v I C Sa. unfold perform in P.
    set (s := {| time := t; replica := me; sequence := known st me + 1 |}) in *.
    destruct (write_row separate (rows st k) l s a) as [x'|] eqn:E; [|discriminate].
    injection P; intros He Hst; clear P. subst st'. simpl.
    destruct (N w c v I C Sa) as [Sh|G]; [|apply (accounted_more past past' kept kept); auto; right; exact G].
    unfold set. destruct (Z.eqb_spec (w_key w) k) as [K|K]; [|left; exact Sh].
    destruct Sh as [x [X [L V]]]. rewrite K in X.
    pose proof (versions _ _ _ _ S _ _ X) as W.
    assert (A : is_alive (life x) = true).
    { destruct (is_alive (life x)) eqn:A; [reflexivity|]. destruct (dead_is_empty _ _ W A c). congruence. }
    destruct (value_writer _ _ _ _ _ _ _ _ S X V) as [w1 [[I1 [C1 [K1 L1]]] [E1 S1]]].
    assert (Sa1 : says w1 c v) by (unfold says; congruence).
    assert (Right : beats e w1 c -> accounted past' kept (Some x') (w_key w) (w_life w) c v).
    { intros B. right. exists w1. split; [auto|]. split; [congruence|]. split; [congruence|]. split; [exact Sa1|].
      apply (Replaced _ _ _ _ _ e); auto. rewrite <- He. exact C1. }
    unfold write_row in E. rewrite X in E. destruct a as [f| |c' v'].
    - destruct (is_alive l); [|discriminate]. simpl in E. destruct (Z.ltb_spec (life x) l); [|discriminate].
      apply Right. split; rewrite <- He; simpl; [congruence|]. left. lia.
    - destruct (is_alive l) eqn:Al; [discriminate|]. simpl in E.
      apply Right. split; rewrite <- He; simpl; [congruence|]. left.
      destruct (Z.ltb_spec (life x) l); [lia|]. simpl in E. destruct (Z.eqb_spec (life x) l); [congruence | discriminate].
    - destruct (is_alive l); [|discriminate]. destruct (Z.eqb_spec (life x) l) as [Ll|]; [|discriminate].
      destruct (is_newer s (base x)) eqn:Nb; [|discriminate].
      destruct (is_newer s (stamp_of x c')) eqn:Nc; [|discriminate]. injection E; intros <-.
      destruct (Z.eq_dec c c') as [<-|D].
      + apply Right. split; rewrite <- He; simpl; [congruence|]. right. split; [congruence|].
        rewrite E1. unfold Invariant.write_entry; simpl. rewrite Z.eqb_refl.
        unfold compare_entries, written, lex at 1; simpl. rewrite newer_lt in Nc. unfold lex in Nc.
        change (compare_moments (moment (stamp_of x c)) (moment s) = Lt) in Nc. rewrite Nc. reflexivity.
      + left. exists (updated x c' s v'). split; [reflexivity|]. split; [simpl; congruence|].
        unfold updated; simpl. rewrite set_other by exact D. exact V.
  Qed.
End Account.

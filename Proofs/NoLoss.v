(** No acknowledged value vanishes. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant CipherStoreProofs.Steps.
Require Import CipherStoreProofs.Convergence CipherStoreProofs.Account CipherStoreProofs.Losing.
Import ListNotations.
Local Open Scope Z_scope.

Section NoLoss.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation write_entry := (write_entry separate).
  Local Notation sound := (sound separate).
  Local Notation says := (says separate).
  Local Notation accounted := (accounted separate).
  Local Notation nothing_lost := (nothing_lost separate).

  (** * In every history *)

  (** Whether any replica's journal holds a value. *)
  Definition kept_in (w : world) (k : key) (l : Z) (c : column) (s : stamp) (v : value) : Prop :=
    exists r, In (l, s, v) (journal (replicas w r) k c).

  Record lossless (w : world) : Prop := {
    by_replicas : forall r, nothing_lost (history w) (kept_in w) (rows (replicas w r)) (known (replicas w r));
    by_bundles : forall m, In m (bundles w) -> nothing_lost (history w) (kept_in w) (b_rows m) (b_target m) }.

  Lemma lossless_more past past' (kept kept' : key -> Z -> column -> stamp -> value -> Prop) view knows :
    (forall x, In x past -> In x past') -> (forall k l c s v, kept k l c s v -> kept' k l c s v) ->
    (forall x, In x past' -> contains knows (w_stamp x) = true -> In x past) ->
    nothing_lost past kept view knows -> nothing_lost past' kept' view knows.
  Proof.
    intros P K New N w c v I C Sa. eapply accounted_more; [exact P | exact K |]. apply N; auto.
  Qed.

  Lemma step_lossless w w' : reachable separate w -> step separate w w' -> lossless w -> lossless w'.
  Proof.
    intros R St L. pose proof (reachable_invariant _ _ R) as I.
    destruct St as [w r k l t a st e P | w r b | w r m M C].
    - assert (Es : w_stamp e = {| time := t; replica := r; sequence := known (replicas w r) r + 1 |} /\
                   journal st = journal (replicas w r) /\ known st = set (known (replicas w r)) r (known (replicas w r) r + 1)).
      { unfold perform in P. destruct (write_row _ _ _ _ _); [|discriminate]. injection P; intros <- <-. auto. }
      destruct Es as [Es [Ej Ek]].
      set (w' := {| replicas := set (replicas w) r st; history := e :: history w; bundles := bundles w |}).
      assert (K : forall k l c s v, kept_in w k l c s v -> kept_in w' k l c s v).
      { intros k' l' c s v [r' J]. exists r'. simpl. unfold set. destruct (Z.eqb_spec r' r) as [->|]; [rewrite Ej|]; exact J. }
      assert (New : forall v, v r <= known (replicas w r) r -> forall x, In x (e :: history w) ->
                contains v (w_stamp x) = true -> In x (history w)).
      { intros v Lv x [<-|X] Cx; [|exact X]. unfold contains in Cx. rewrite Es in Cx; simpl in Cx. apply Z.leb_le in Cx. lia. }
      split; simpl.
      + intros r'. destruct (Z.eq_dec r' r) as [->|D].
        * rewrite set_same. intros x c v [<-|X] Cx Sa.
          -- left. assert (Sd : sound (e :: history w) (rows st) (known st)).
             { eapply sound_write; [apply (replicas_sound _ _ I) | | exact P].
               intros y Y Ry. rewrite <- Ry. apply (numbers_given _ _ I), Y. }
             unfold perform in P. destruct (write_row _ _ _ _ _) as [x|] eqn:E; [|discriminate].
             injection P; intros <- <-. simpl in *. exists x. rewrite set_same. split; [reflexivity|].
             unfold Account.says, Invariant.write_entry in Sa; simpl in Sa. unfold write_row in E. destruct a as [f| |c' v'].
             ++ destruct (_ && _); [|discriminate]. injection E; intros <-. split; [reflexivity|]. simpl.
                destruct (if separate c then None else f c); [apply written_injective in Sa as [_ ->]; reflexivity|].
                unfold defaulted in Sa. destruct (separate c); discriminate.
             ++ unfold defaulted in Sa. destruct (separate c); discriminate.
             ++ destruct (c =? c') eqn:Ec; [|discriminate]. apply written_injective in Sa as [_ <-].
                destruct (rows _ k) as [y|]; [|discriminate]. destruct (is_alive l); [|discriminate].
                destruct (Z.eqb_spec (life y) l) as [Ll|]; [|discriminate]. destruct (_ && _); [|discriminate].
                injection E; intros <-. unfold updated, set; simpl. rewrite Ec. auto.
          -- assert (Cx' : contains (known (replicas w r)) (w_stamp x) = true).
             { unfold contains in *. rewrite Ek in Cx. unfold set in Cx.
               destruct (Z.eqb_spec (replica (w_stamp x)) r) as [Rx|]; [|exact Cx].
               pose proof (numbers_given _ _ I x X). rewrite Rx in *. apply Z.leb_le. exact H. }
             eapply lost_by_write; [apply (replicas_sound _ _ I) | exact P | | | | exact X | exact Cx' | exact Sa].
             ++ intros y Y. right. exact Y.
             ++ left. reflexivity.
             ++ intros y c' v' Y Cy Sy. eapply accounted_more; [intros z Z; exact Z | exact K |].
                apply (by_replicas _ L); assumption.
        * rewrite set_other by exact D. eapply lossless_more; [| exact K | | apply (by_replicas _ L)].
          -- intros x X. right. exact X.
          -- apply New. apply (own_known_best _ _ I).
      + intros m M. eapply lossless_more; [| exact K | | apply (by_bundles _ L), M].
        * intros x X. right. exact X.
        * apply New. apply (targets_given _ _ I), M.
    - split; simpl; [apply L|]. intros m [<-|M]; [apply L | apply L, M].
    - set (w' := {| replicas := set (replicas w) r (apply separate (replicas w r) m); history := history w; bundles := bundles w |}).
      assert (K : forall k l c s v, kept_in w k l c s v -> kept_in w' k l c s v).
      { intros k l c s v [r' J]. exists r'. simpl. unfold set. destruct (Z.eqb_spec r' r) as [->|]; [|exact J].
        simpl. apply in_or_app. left. exact J. }
      split; simpl.
      + intros r'. destruct (Z.eq_dec r' r) as [->|D].
        * rewrite set_same. simpl. eapply lost_by_bundle;
            [apply I | apply I, M | exact C | apply (by_replicas _ L) | apply (by_bundles _ L), M | exact K |].
          intros k l c s v J. exists r. simpl. rewrite set_same. simpl. apply in_or_app. right. exact J.
        * rewrite set_other by exact D. eapply lossless_more; [| exact K | | apply (by_replicas _ L)]; auto.
      + intros m' M'. eapply lossless_more; [| exact K | | apply (by_bundles _ L), M']; auto.
  Qed.

  Lemma reachable_lossless w : reachable separate w -> lossless w.
  Proof.
    induction 1 as [|w w' R IH St]; [|eapply step_lossless; eauto].
    split; simpl; [intros r x c v [] | contradiction].
  Qed.

  (** THEOREM no_value_vanishes: Of a value that a replica wrote or took in, each replica that knows it can say where it is: it shows it, or a write that knew it replaced it, or it is in a journal, or it is a NULL in whose place a newer whole row has the default. *)
  Theorem no_value_vanishes w r e c v :
    reachable separate w -> In e (history w) -> contains (known (replicas w r)) (w_stamp e) = true -> says e c v ->
    accounted (history w) (kept_in w) (rows (replicas w r) (w_key e)) (w_key e) (w_life e) c v.
  Proof.
    intros R I C Sa. apply (by_replicas _ (reachable_lossless _ R)); assumption.
  Qed.
End NoLoss.

(** That a bundle loses no value: of two that meet, one is shown, and the other one is accounted for. *)

Require Import ZArith List Bool Lia.
Require Import CipherStoreProofs.Order CipherStoreProofs.Row CipherStoreProofs.Merge.
Require Import CipherStoreProofs.Entries CipherStoreProofs.Laws CipherStoreProofs.Join CipherStoreProofs.Export.
Require Import CipherStoreProofs.World CipherStoreProofs.Invariant CipherStoreProofs.Steps.
Require Import CipherStoreProofs.Convergence CipherStoreProofs.Account.
Import ListNotations.
Local Open Scope Z_scope.

Section Losing.
  Variable separate : column -> bool.

  Local Notation entry_of := (entry_of separate).
  Local Notation write_entry := (write_entry separate).
  Local Notation sound := (sound separate).
  Local Notation says := (says separate).
  Local Notation accounted := (accounted separate).
  Local Notation nothing_lost := (nothing_lost separate).

  (** * A bundle *)

  Section Apply.
    Variables (past : list write) (kept kept' : key -> Z -> column -> stamp -> value -> Prop).
    Variables (st : state) (m : bundle).
    Hypothesis (S : sound past (rows st) (known st)).
    Hypothesis (Sm : sound past (b_rows m) (b_target m)).
    Hypothesis (C : covers (known st) (b_base m)).
    Hypothesis (N : nothing_lost past kept (rows st) (known st)).
    Hypothesis (Nm : nothing_lost past kept (b_rows m) (b_target m)).
    Hypothesis (More : forall k l c s v, kept k l c s v -> kept' k l c s v).
    Hypothesis (Here : forall k l c s v, In (l, s, v) (lost_here separate st m k c) -> kept' k l c s v).

    Local Notation row' := (applied_row separate st m).

    Lemma planned k x : b_rows m k = Some x -> forall ch, told m k = Some ch -> exists p,
      plan_merge separate (rows st k) ch (b_target m) (known st) = Some p /\
      row' k = Some (carry_out (rows st k) p).
    Proof.
      intros X ch T. destruct (applied_spec separate _ _ m k S Sm C) as [[E _]|[x' [z [X' [_ [_ [_ R]]]]]]]; [congruence|].
      unfold applied_row. rewrite T in *. simpl in *. unfold apply_change in *.
      destruct (plan_merge _ _ _ _ _) as [p|]; [|discriminate]. exists p. split; reflexivity.
    Qed.

    Lemma alive_told k x : b_rows m k = Some x -> is_alive (life x) = true ->
      exists ch, told m k = Some ch /\ c_life ch = life x /\
        (forall c s, values x c <> None -> stamp_of x c = s -> contains (b_base m) s = false ->
           c_writes ch c = option_map (fun v => (s, v)) (values x c)) /\
        (forall c, c_writes ch c <> None -> c_writes ch c = option_map (fun v => (stamp_of x c, v)) (values x c)) /\
        (forall b, c_base ch = Some b -> b = base x).
    Proof.
      intros X A. unfold told. rewrite X. unfold export. rewrite A. eexists. split; [reflexivity|]. simpl.
      split; [reflexivity|]. unfold stamp_of. split; [|split].
      - intros c s V. destruct (cells x c) as [t|]; intros <- ->; reflexivity.
      - intros c. destruct (cells x c) as [t|]; match goal with |- context [if ?told then _ else _] => destruct told end; congruence.
      - intros b. destruct (negb _); congruence.
    Qed.

    (** A value that the receiver shows is accounted for afterwards. *)
    Lemma shown_here k l c v : shows (rows st k) l c v -> accounted past kept' (row' k) k l c v.
    Proof.
      intros [y [Y [L V]]].
      destruct (applied_spec separate _ _ m k S Sm C) as [[Xn E]|[x [z [X [Z [Wz [M R]]]]]]].
      { rewrite E. left. exists y. auto. }
      pose proof (versions _ _ _ _ S _ _ Y) as Wy. pose proof (versions _ _ _ _ Sm _ _ X) as Wx.
      assert (A : is_alive (life y) = true).
      { destruct (is_alive (life y)) eqn:A; [reflexivity|]. destruct (dead_is_empty _ _ Wy A c). congruence. }
      destruct (value_writer _ _ _ _ _ _ _ _ S Y V) as [w1 [[I1 [C1 [K1 L1]]] [E1 S1]]].
      assert (Sa1 : says w1 c v) by (unfold says; congruence).
      rewrite Y in M. simpl in M. destruct (merge_spec separate y x Wy Wx) as [_ [_ [Lm [_ Em]]]].
      pose proof M as [Lz _]. pose proof (same_entry separate _ _ c M) as Ez. rewrite Em in Ez. unfold pick in Ez.
      assert (Shown : entry_of z c = entry_of y c \/ entry_of z c = written (stamp_of x c) v -> life z = l ->
                accounted past kept' (row' k) k l c v).
      { intros Ev Lz'. left. exists z. split; [exact Z|]. split; [exact Lz'|].
        rewrite (entry_with_value separate _ _ _ V) in Ev. destruct Ev as [Ev|Ev]; apply value_of_entry in Ev; apply Ev. }
      (* The sender may know the write, and then says where the value is. *)
      destruct (contains (b_target m) (w_stamp w1)) eqn:Ck.
      { destruct (Nm w1 c v I1 Ck Sa1) as [Sh|G].
        - rewrite K1 in Sh. destruct Sh as [x' [X' [Lx Vx]]]. assert (x' = x) by congruence. subst x'.
          apply Shown; [|lia]. rewrite Ez. destruct (Z.ltb_spec (life y) (life x)); [lia|].
          destruct (Z.ltb_spec (life x) (life y)); [lia|].
          destruct (greater_or compare_entries (entry_of y c) (entry_of x c)) as [-> | ->]; [auto|].
          right. apply entry_with_value. exact Vx.
        - right. destruct G as [w [I [Wk [Wl [Sa G]]]]]. exists w. repeat split; auto; try congruence.
          eapply gave_way_more; eauto. }
      rewrite S1 in Ck.
      assert (Lost : In (l, stamp_of y c, v) (lost_here separate st m k c) -> accounted past kept' (row' k) k l c v).
      { intros J. right. exists w1. split; [auto|]. split; [auto|]. split; [congruence|]. split; [exact Sa1|].
        apply Journaled. rewrite K1, S1. replace (w_life w1) with l by congruence. apply Here, J. }
      destruct (Z.lt_trichotomy (life x) (life y)) as [Lt|[Eq|Gt]].
      - apply Shown; [left|lia]. rewrite Ez. destruct (Z.ltb_spec (life y) (life x)); [lia|].
        destruct (Z.ltb_spec (life x) (life y)); [reflexivity | lia].
      - (* One life. *)
        destruct (alive_told k x X) as [ch [T [Lc [Hw [Hw2 Hb]]]]]; [congruence|].
        destruct (planned k x X ch T) as [p [P R']]. assert (Zp : z = carry_out (Some y) p) by congruence.
        assert (Pc : p = merge_columns separate y ch (b_target m) (known st)).
        { rewrite Y in P. unfold plan_merge in P. rewrite Lc, Eq, Z.ltb_irrefl, <- Eq in P.
          rewrite Eq, A in P. simpl in P. congruence. }
        assert (Vz : values z c = value_after y (merge_column separate y ch (b_target m) (known st)
                    (newest (base y) (c_base ch)) c) c) by (rewrite Zp, Pc; reflexivity).
        assert (Stays : values z c = Some v -> accounted past kept' (row' k) k l c v).
        { intros H. left. exists z. split; [exact Z|]. split; [lia | exact H]. }
        assert (Jn : forall f,
            o_conflict (merge_column separate y ch (b_target m) (known st) (newest (base y) (c_base ch)) c) = Some f ->
            lost f = v -> lost_stamp f = stamp_of y c -> why f = Newer -> accounted past kept' (row' k) k l c v).
        { intros f H <- Hs Hy. apply Lost. unfold lost_here. rewrite T, P. unfold journaled. rewrite Pc. simpl. rewrite H.
          rewrite Hy, L, Hs. left. reflexivity. }
        unfold value_after, merge_column in Vz, Jn. rewrite V in Vz, Jn. simpl in Vz, Jn.
        destruct (c_writes ch c) as [[s a]|] eqn:Wc.
        + (* The sender has another value. *)
          rewrite !orb_false_r in *. rewrite Ck in Jn.
          destruct (is_newer s (stamp_of y c)) eqn:N1; simpl in Vz, Jn.
          * destruct (compare_values a v) eqn:Order; simpl in Vz, Jn;
              [apply Stays; exact Vz | eapply Jn; reflexivity | eapply Jn; reflexivity].
          * destruct (is_newer (stamp_of y c) s) eqn:N2; simpl in Vz, Jn; [apply Stays; exact Vz|].
            destruct (compare_values a v) eqn:Order; simpl in Vz, Jn;
              [apply Stays; exact Vz | apply Stays; exact Vz | eapply Jn; reflexivity].
        + (* The sender has none: the column stays, or goes back to its default. *)
          simpl in Vz, Jn. destruct (negb (separate c) && is_newer_base ch (stamp_of y c)) eqn:Rs;
            [|apply Stays; exact Vz].
          unfold is_newer_base in Rs. destruct (c_base ch) as [b|] eqn:B; [|rewrite andb_false_r in Rs; discriminate].
          apply andb_true_iff in Rs as [Sep Nw]. pose proof (Hb _ eq_refl). subst b.
          unfold reset in Jn. rewrite V in Jn. simpl in Jn. rewrite Ck, orb_false_r in Jn.
          destruct (is_eq (compare_values v Null)) eqn:Nl; [|eapply Jn; reflexivity].
          destruct (base_is_written _ _ _ _ Sm _ _ X) as [w' [[I' [_ [K' L']]] [H' B']]].
          right. exists w1. split; [auto|]. split; [auto|]. split; [congruence|]. split; [exact Sa1|].
          apply (NoValue _ _ _ _ _ _ w'); auto; try congruence.
          apply (cmp_eq _ total_values). destruct (compare_values v Null); [reflexivity | discriminate | discriminate].
      - (* The life has ended. *)
        destruct (told m k) as [ch|] eqn:T.
        2: { (* The sender's deletion is known here, and so is the end of the life. *)
          exfalso. unfold told in T. rewrite X in T. unfold export in T.
          destruct (is_alive (life x)); [discriminate|]. destruct (contains (b_base m) (base x)) eqn:Cb; [|discriminate].
          destruct (sound_holds _ _ _ _ _ _ _ _ _ Sm S X C) as [Hold _]. destruct (Hold Cb) as [y' [Y' D]].
          assert (y' = y) by congruence. subst y'. lia. }
        destruct (planned k x X ch T) as [p [P R']].
        assert (Lc : c_life ch = life x).
        { unfold told in T. rewrite X in T. unfold export in T. destruct (is_alive (life x)); [injection T; intros <-; reflexivity|].
          destruct (negb _); [injection T; intros <-; reflexivity | discriminate]. }
        apply Lost. unfold lost_here. rewrite T, P. rewrite Y in P. unfold plan_merge in P.
        rewrite Lc, (proj2 (Z.ltb_lt _ _) Gt) in P. unfold outlive in P. destruct (begin ch) as [q|]; [|discriminate].
        rewrite A in P. injection P; intros <-. unfold journaled; simpl. rewrite V. simpl. rewrite Ck. simpl. rewrite L.
        left. reflexivity.
    Qed.

    (** A value that the sender shows is accounted for afterwards. *)
    Lemma shown_there k l c v : shows (b_rows m k) l c v -> accounted past kept' (row' k) k l c v.
    Proof.
      intros [x [X [L V]]].
      destruct (applied_spec separate _ _ m k S Sm C) as [[Xn E]|[x' [z [X' [Z [Wz [M R]]]]]]]; [congruence|].
      assert (x' = x) by congruence. subst x'. pose proof (versions _ _ _ _ Sm _ _ X) as Wx.
      assert (A : is_alive (life x) = true).
      { destruct (is_alive (life x)) eqn:A; [reflexivity|]. destruct (dead_is_empty _ _ Wx A c). congruence. }
      destruct (value_writer _ _ _ _ _ _ _ _ Sm X V) as [w1 [[I1 [C1 [K1 L1]]] [E1 S1]]].
      assert (Sa1 : says w1 c v) by (unfold says; congruence).
      destruct (contains (known st) (w_stamp w1)) eqn:Ck.
      { destruct (N w1 c v I1 Ck Sa1) as [Sh|G].
        - rewrite K1 in Sh. apply shown_here. replace l with (w_life w1) by congruence. exact Sh.
        - right. destruct G as [w [I [Wk [Wl [Sa G]]]]]. exists w. repeat split; auto; try congruence.
          eapply gave_way_more; eauto. }
      rewrite S1 in Ck.
      assert (Cb : contains (b_base m) (stamp_of x c) = false).
      { destruct (contains (b_base m) (stamp_of x c)) eqn:Cb; [|reflexivity].
        rewrite (contains_covers _ _ _ C Cb) in Ck. discriminate. }
      destruct (rows st k) as [y|] eqn:Y; simpl in M.
      2: { left. exists z. split; [exact Z|]. destruct M as [Lz [_ Ec]]. split; [congruence|].
           destruct (Ec c) as [_ ->]. exact V. }
      pose proof (versions _ _ _ _ S _ _ Y) as Wy. destruct (merge_spec separate y x Wy Wx) as [_ [_ [Lm [_ Em]]]].
      pose proof M as [Lz _]. pose proof (same_entry separate _ _ c M) as Ez. rewrite Em in Ez. unfold pick in Ez.
      destruct (alive_told k x X A) as [ch [T [Lc [Hw [Hw2 Hb]]]]].
      assert (Wc : c_writes ch c = Some (stamp_of x c, v)).
      { rewrite (Hw c (stamp_of x c)); [rewrite V; reflexivity | congruence | reflexivity | exact Cb]. }
      destruct (planned k x X ch T) as [p [P R']]. rewrite Y in R', P. assert (Zp : z = carry_out (Some y) p) by congruence.
      assert (Lost : In (l, stamp_of x c, v) (lost_here separate st m k c) -> accounted past kept' (row' k) k l c v).
      { intros J. right. exists w1. split; [auto|]. split; [auto|]. split; [congruence|]. split; [exact Sa1|].
        apply Journaled. rewrite K1, S1. replace (w_life w1) with l by congruence. apply Here, J. }
      destruct (Z.lt_trichotomy (life y) (life x)) as [Lt|[Eq|Gt]].
      - left. exists z. split; [exact Z|]. split; [lia|].
        rewrite (proj2 (Z.ltb_lt _ _) Lt), (entry_with_value separate _ _ _ V) in Ez. apply value_of_entry in Ez. apply Ez.
      - assert (Pc : p = merge_columns separate y ch (b_target m) (known st)).
        { unfold plan_merge in P. rewrite Lc, Eq, Z.ltb_irrefl, A in P. simpl in P. congruence. }
        assert (Vz : values z c = value_after y (merge_column separate y ch (b_target m) (known st)
                    (newest (base y) (c_base ch)) c) c) by (rewrite Zp, Pc; reflexivity).
        assert (Shown : values z c = Some v -> accounted past kept' (row' k) k l c v).
        { intros H. left. exists z. split; [exact Z|]. split; [lia | exact H]. }
        assert (Jn : o_conflict (merge_column separate y ch (b_target m) (known st) (newest (base y) (c_base ch)) c)
                       = Some {| lost := v; lost_stamp := stamp_of x c;
                                 winner := stamp_of y c; why := Newer |} ->
                     accounted past kept' (row' k) k l c v).
        { intros H. apply Lost. unfold lost_here. rewrite T, Y, P. unfold journaled. rewrite Pc. simpl. rewrite H.
          simpl. rewrite Eq, L. left. reflexivity. }
        unfold value_after, merge_column in Vz, Jn. rewrite Wc in Vz, Jn. simpl in Vz, Jn.
        destruct (values y c) as [a|] eqn:Vy; simpl in Vz, Jn.
        + rewrite !orb_false_r in *.
          destruct (is_newer (stamp_of x c) (stamp_of y c)) eqn:N1; simpl in Vz, Jn.
          * destruct (compare_values v a) eqn:Order; simpl in Vz, Jn; apply Shown; rewrite Vz; try reflexivity.
            apply (cmp_eq _ total_values) in Order. congruence.
          * destruct (is_newer (stamp_of y c) (stamp_of x c)) eqn:N2; simpl in Vz, Jn.
            -- destruct (compare_values v a) eqn:Order; simpl in Vz, Jn; rewrite ?Ck in Jn; simpl in Jn.
               ++ apply (cmp_eq _ total_values) in Order. apply Shown. congruence.
               ++ apply Jn. reflexivity.
               ++ apply Jn. reflexivity.
            -- destruct (compare_values v a) eqn:Order; simpl in Vz, Jn.
               ++ apply (cmp_eq _ total_values) in Order. apply Shown. congruence.
               ++ apply Jn. reflexivity.
               ++ apply Shown. exact Vz.
        + rewrite (cells_none_of_values separate y c Wy Vy) in Vz, Jn. simpl in Vz, Jn.
          destruct (is_newer (stamp_of y c) (stamp_of x c)) eqn:N2; simpl in Vz, Jn.
          * rewrite (newer_asym _ _ N2) in Vz, Jn. simpl in Vz, Jn. rewrite orb_false_r in Vz, Jn.
            destruct (separate c) eqn:Sep; simpl in Vz, Jn; [apply Shown; rewrite orb_true_r in Vz; exact Vz|].
            destruct (compare_values v Null) eqn:Order; simpl in Vz, Jn; rewrite ?Ck in Jn; simpl in Jn.
            -- apply (cmp_eq _ total_values) in Order.
               destruct (base_is_written _ _ _ _ S _ _ Y) as [w' [[I' [_ [K' L']]] [H' B']]].
               right. exists w1. split; [auto|]. split; [auto|]. split; [congruence|]. split; [exact Sa1|].
               apply (NoValue _ _ _ _ _ _ w'); auto; try congruence.
               unfold stamp_of in N2 at 1. rewrite (cells_none_of_values separate y c Wy Vy) in N2. congruence.
            -- apply Jn. reflexivity.
            -- apply Jn. reflexivity.
          * apply Shown. rewrite Vz. destruct (is_newer (stamp_of x c) (stamp_of y c)), (separate c), (compare_values v Null);
              reflexivity.
      - apply Lost. unfold lost_here. rewrite T, Y, P. unfold plan_merge in P.
        rewrite Lc, (proj2 (Z.ltb_ge _ _)) in P by lia. rewrite (proj2 (Z.ltb_lt _ _) Gt) in P.
        injection P; intros <-. unfold journaled; simpl. rewrite Wc, Ck, Lc, L. left. reflexivity.
    Qed.

    Lemma lost_by_bundle : nothing_lost past kept' row' (join (known st) (b_target m)).
    Proof.
      intros w c v I K Sa. rewrite contains_join in K. apply orb_true_iff in K.
      destruct K as [K|K].
      - destruct (N w c v I K Sa) as [Sh|G]; [apply shown_here; exact Sh|].
        right. destruct G as [w' [I' [Wk [Wl [Sa' G]]]]]. exists w'. repeat split; auto. eapply gave_way_more; eauto.
      - destruct (Nm w c v I K Sa) as [Sh|G]; [apply shown_there; exact Sh|].
        right. destruct G as [w' [I' [Wk [Wl [Sa' G]]]]]. exists w'. repeat split; auto. eapply gave_way_more; eauto.
    Qed.
  End Apply.
End Losing.

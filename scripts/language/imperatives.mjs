// Verbs that begin the summary of a commit.
const verbs = new Set(
  `abort accept account acknowledge acquire act adapt add adjust adopt advertise align allocate allow analyze anchor
  annotate announce answer append apply approve archive ask assemble assert assign assume attach attribute audit authenticate
  authorize avoid await back balance base batch begin benchmark bind block boost bound break bring broadcast buffer build bump
  bundle cache calculate call cancel cap capture carry catch center change check choose claim clarify classify clean clear clip
  clone close cluster coalesce collapse collect color combine commit compare compile complete compose compress compute condense
  configure confine confirm connect consider consolidate constrain consume contain continue convert copy correct count cover
  crash create cross cut deal debounce decide declare declutter decode decouple decrease decrypt dedupe deduplicate default defer
  define delay delegate delete deliver demote deny depend deprecate derive describe deserialize destroy detach detect determine
  diagnose differentiate disable discard disconnect discover display distinguish distribute divide do document downgrade
  download draft drain draw drive drop duplicate edit eliminate embed emit enable encode encrypt end enforce enlarge ensure enter
  enumerate erase escape establish estimate evaluate evict examine exchange exclude execute exempt exercise exit expand expect
  expire explain expose extend extract fail fall favor feed fence fetch fill filter finalize find finish fit fix flag flatten
  flush fold follow forbid force fork format forward free freeze gate gather generate get give grant group grow guard guess halt
  handle harden hash hide highlight hint hold honor host identify ignore import impersonate implement import improve include
  increase indent index infer inform inherit initialize inject inline insert inspect install instrument integrate interpret
  interrupt introduce invalidate invert invite invoke isolate issue iterate join judge jump keep kill label launch lay lead leave
  lengthen let level lift limit link list listen load localize locate lock log look loosen lower maintain make map mark mask match
  measure memoize mention merge migrate minify minimize mirror mock model modernize monitor mount move name narrow negotiate nest
  normalize note notify number observe obtain offer omit open optimize order organize outline overlap override pack pad page
  paginate parallelize parse partition pass paste patch pause pay permit persist pick pin pipe place plan play poll polish pool
  populate port position post postpone prefer prefix preload prepare preserve press prevent preview print prioritize probe process
  produce prohibit promote prompt propagate propose protect prove provide proxy prune publish pull purge push put qualify query
  queue quiet quote raise randomize rank rate reach react read rearrange reassign rebase rebuild recalculate receive recheck
  recognize recommend reconcile reconnect record recover recreate recycle redact redesign redirect redo redraw reduce refactor
  refer refine reflect reformat refresh refuse regenerate register regroup reject relate relax relay release reload relocate rely
  remember remind remove rename render renew reopen reorder reorganize repair repeat rephrase replace replay reply report represent
  reproduce request require rerun rescue reseal reserve reset reshape resize resolve respect respond restart restore restrict
  restructure resume rethrow retire retrieve retry return reuse reveal revert review revise revoke rewind reword rewrite roll
  rotate round route run sample sandbox sanitize save scale scan schedule scope score scroll seal search secure seed select send
  separate serialize serve set settle shape share sharpen ship shorten show shrink shut sign silence simplify simulate size skip
  sleep slice slim smooth snapshot soften solve sort space specify speed spell split spread squash stabilize stage standardize
  start state stay steer step stick stop store stream streamline strengthen stress stretch strip style submit subscribe substitute
  suggest summarize supply support suppress survive suspend swap switch sync synchronize tag take target teach tell terminate test
  think throttle throw tidy tie tighten time toggle tolerate trace track trade transfer transform translate transmit treat trigger
  trim trust try tune turn type unblock undo unescape unflake unify uninstall unify union unlink unlock unmount unpack unpin
  unregister unset unsubscribe untangle unwrap update upgrade upload use validate vary vendor verify version view visit wait wake
  walk warn wash watch weaken weigh widen withdraw withhold work wrap write yield`.split(/\s+/),
);

/** Whether a word is a verb in the imperative; "don't" and "never" stand before one. */
export function isImperative(word) {
  const lower = word.toLowerCase().replace('’', "'");
  return (
    verbs.has(lower) ||
    lower === "don't" ||
    lower === 'never' ||
    (/^(?:re|de|un|pre|auto)-?(?=[a-z]{3})/.test(lower) && verbs.has(lower.replace(/^(?:re|de|un|pre|auto)-?/, '')))
  );
}

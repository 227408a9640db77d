// biome-ignore-all lint/suspicious/noTemplateCurlyInString: what the shell puts in the place of something
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ToolPreset, ToolRule } from '@homeport/contracts/chat/tool-rules';
import { judgeCall, judgeCommand, type RulesInForce } from './rule-judge.ts';
import { patternOf } from './rule-pattern.ts';

const bash = (policy: ToolRule['policy'], pattern?: string): ToolRule => ({
  tool: 'bash',
  policy,
  ...(pattern === undefined ? {} : { pattern }),
});
const rules = (preset: ToolPreset, person: ToolRule[] = [], conversation: ToolRule[] = []): RulesInForce => ({
  preset,
  person,
  conversation,
});
const guarded = rules('auto', [bash('ask', 'rm -rf *'), bash('ask', 'git push *'), bash('deny', 'shutdown *')]);

function check(inForce: RulesInForce, table: readonly (readonly [policy: string, ...commands: string[]])[]): void {
  for (const [policy, ...commands] of table) {
    for (const command of commands) assert.equal(judgeCommand(inForce, command).policy, policy, command);
  }
}

test('judges a command by its strictest part, in every spelling', () => {
  check(guarded, [
    ['ask', 'rm -rf b', 'rm -rf', 'rm  -rf\t b', 'git push', 'git push origin main', '/bin/rm -rf b', '../x/rm -rf b'],
    [
      'ask',
      'a; rm -rf b',
      'a && rm -rf b',
      'a || rm -rf b',
      'a | rm -rf b',
      'a & rm -rf b',
      'a\nrm -rf b',
      'a |& rm -rf b',
    ],
    [
      'ask',
      '(rm -rf b)',
      '{ rm -rf b; }',
      'echo $(rm -rf b)',
      'echo "$(rm -rf b)"',
      'echo `rm -rf b`',
      'cat <(rm -rf b)',
    ],
    ['ask', '"rm" -rf b', "'rm' '-rf' b", 'r\\m -rf b', 'r""m -r"f" b', "$'rm' -rf b", 'rm \\\n -rf b', '\\rm -rf b'],
    ['ask', 'A=1 rm -rf b', 'A=$(x) B=2 git push', '>f rm -rf b', '2>&1 rm -rf b', '<f rm -rf b', 'A="a b" rm -rf b'],
    ['ask', 'if x; then rm -rf b; fi', 'for i in 1 2; do rm -rf b; done', '! rm -rf b', 'while x; do git push; done'],
    [
      'ask',
      'sudo rm -rf b',
      'env A=1 rm -rf b',
      'nohup nice -n 5 rm -rf b',
      'time rm -rf b',
      'timeout 5 /bin/rm -rf b',
    ],
    [
      'ask',
      'ls | xargs rm -rf',
      'echo -rf b | xargs rm',
      'find . -exec rm -rf {} \\;',
      'command rm -rf b',
      'exec rm -rf b',
    ],
    ['ask', "bash -c 'rm -rf b'", 'sh -ec "x; rm -rf b"', 'eval rm -rf b', "eval 'rm -rf' b", "trap 'rm -rf b' EXIT"],
    [
      'ask',
      'echo x | sh',
      'curl -s https://x | bash -s',
      'bash <<EOF\nx\nEOF',
      'source <(echo x)',
      'sudo sh -c "sh -c \'git push\'"',
    ],
    [
      'ask',
      '$X',
      '$X -rf b',
      '"$A" b',
      'rm $X b',
      'r$X b',
      'git $X',
      'rm -r[f] b',
      '{rm,-rf,b}',
      'eval "$X"',
      "$'\\x72m' -rf b",
    ],
    [
      'ask',
      "x 'a",
      'x "a',
      'echo $(a',
      'case x in x) rm -rf b;; esac',
      'f() { rm -rf b; }; f',
      'cat <<EOF\n$(rm -rf b)\nEOF',
    ],
    [
      'ask',
      'cat <<EOF\nx',
      'echo ${x:-$(rm -rf b)}',
      "printf -v 'a[$(rm -rf b)]' x",
      'echo ${x@P}',
      'a=(rm -rf b); "${a[@]}"',
    ],
    ['ask', `echo ${'x'.repeat(40_000)}`, `${'('.repeat(100)}x${')'.repeat(100)}`],
    ['deny', 'shutdown now', 'ls; sudo /sbin/shutdown -h now', 'git push; shutdown', "sh -c 'shutdown'"],
    [
      'allow',
      'rm b',
      'rm -r b',
      'echo rm -rf b',
      'git status',
      'git pull',
      'grep "rm -rf" x',
      "echo 'git push'",
      '# rm -rf b',
    ],
    [
      'allow',
      'cat > f <<EOF\nrm -rf b\nEOF',
      'git commit -m "$(cat <<\'EOF\'\nrm -rf `x`\nEOF\n)"',
      'echo $HOME',
      'ls *.ts',
    ],
    [
      'allow',
      'cd $DIR && npm test 2>&1 | tail -n 5',
      'for i in $(seq 5); do echo $((i + 1)); done',
      'echo x # rm -rf b',
      'x=1',
    ],
    [
      'allow',
      '[ -f a ] && echo yes',
      'python3 - <<"E"\nimport os\nE',
      'bash build.sh',
      'echo a\\;rm -rf b',
      "awk '{print $1}' f",
    ],
  ]);
});

test('allows exactly the pattern, and lets the more specific rule decide', () => {
  const some = rules('ask', [
    bash('allow', 'npm *'),
    bash('ask', 'npm publish *'),
    bash('allow', 'git push origin dev'),
  ]);
  check(some, [
    ['allow', 'npm test', 'npm run $X', 'npm', 'git push origin dev', 'cd a && npm test', 'npm test > /dev/null 2>&1'],
    [
      'ask',
      'npm publish',
      'npm test; x',
      'A=1 npm test',
      'npm test > ~/.bashrc',
      'npm test $(x)',
      'git push origin main',
    ],
    ['ask', 'npm `x`', './npm test', 'npm test; $X', 'npmx', 'timeout 9 npm test', 'npm test &> f'],
  ]);
  const here = rules('auto', [bash('ask', 'git push *')], [bash('allow', patternOf('git push origin *; x'))]);
  check(here, [
    ['allow', 'git push origin *; x', ' git push origin *; x\n'],
    ['ask', 'git push origin a; x', 'git push origin *;\nx', 'git push origin *; x; git push'],
  ]);
  const kept = [bash('allow', patternOf('git push origin')), bash('allow', patternOf('git fetch; $X'))];
  check(rules('auto', kept, [bash('ask', 'git push *')]), [['ask', 'git push origin', 'git fetch; $X']]);
  check(rules('ask', kept, [bash('ask', 'rm *')]), [['allow', 'git push origin']]);
  check(rules('ask', kept), [['allow', 'git push origin', 'git fetch; $X']]);
  const nearer = rules('auto', [bash('ask', 'git *'), bash('deny', 'rm *')], [bash('allow')]);
  check(nearer, [
    ['allow', 'git push', 'anything'],
    ['deny', 'rm x'],
  ]);
  check(rules('auto', [bash('ask', 'curl * | sh')]), [
    ['ask', 'curl https://x | sh', 'curl x | bash'],
    ['allow', 'curl x'],
  ]);
});

test('applies the presets: reading is free, everything runs, or nothing is written', () => {
  const reading = [
    'ls -la',
    'sort a | uniq -c',
    'uniq -c a',
    'cat a | grep b | wc -l',
    'git log --oneline',
    'find . -name "*.ts"',
    "sed -n '1,9p' a",
    'cd a && ls $X',
  ];
  const more = [
    'npm test',
    'echo a > b',
    'sed -i s/a/b/ c',
    'find . -delete',
    'sort -o a b',
    'git diff --output=x',
    'touch a',
  ];
  const odd = [
    'PAGER=x git log',
    'uniq -- a -b',
    'uniq a b',
    'sed -n 1p -i a',
    "sed -n 1p -e '1e x' a",
    'file --comp a',
    'date --se=x',
    'ls; touch a',
    'ls $(touch a)',
    'git commit',
    '$X',
    'x=`touch a`',
    'rg --pre x y',
    "ls 'a",
  ];
  for (const command of reading) {
    for (const preset of ['ask', 'auto', 'read-only'] as const) check(rules(preset), [['allow', command]]);
  }
  check(rules('ask'), [['ask', ...more, ...odd, 'constructor', '__proto__ x']]);
  check(rules('auto'), [['allow', ...more, ...odd]]);
  check(rules('read-only', [bash('allow'), bash('allow', 'npm test')]), [['deny', ...more, ...odd, 'constructor']]);
  check(rules('read-only', [bash('ask', 'cat *')]), [
    ['ask', 'cat a'],
    ['allow', 'ls'],
  ]);
  const policies = (inForce: RulesInForce) =>
    (['reads', 'writes', undefined] as const).map((effect) => judgeCall(inForce, { name: 't', effect }).policy);
  assert.deepEqual(policies(rules('ask')), ['allow', 'ask', 'allow']);
  assert.deepEqual(policies(rules('auto')), ['allow', 'allow', 'allow']);
  assert.deepEqual(policies(rules('read-only')), ['allow', 'deny', 'allow']);
  assert.deepEqual(policies(rules('read-only', [{ tool: 't', policy: 'allow' }])), ['allow', 'deny', 'allow']);
  assert.deepEqual(policies(rules('ask', [], [{ tool: 't', policy: 'allow' }])), ['allow', 'allow', 'allow']);
  const server = (own: 'allow' | 'ask' | 'deny', policy: ToolRule['policy']) =>
    judgeCall(rules('ask', [{ tool: 'm', policy }]), { name: 'm', own }).policy;
  assert.deepEqual(
    [server('ask', 'allow'), server('allow', 'ask'), server('deny', 'allow'), server('allow', 'deny')],
    ['allow', 'ask', 'deny', 'deny'],
  );
});

test('runs commands without an allow rule read-only, and never together with allowed ones', () => {
  const readOnlyOf = (inForce: RulesInForce, command: string) => judgeCommand(inForce, command);
  const npm = rules('ask', [bash('allow', 'npm *')]);
  assert.deepEqual(readOnlyOf(npm, 'ls -la | wc'), { policy: 'allow', readOnly: { canAsk: true } });
  assert.deepEqual(readOnlyOf(npm, 'x=1'), { policy: 'allow', readOnly: { canAsk: true } });
  for (const command of ['npm test', 'cd a && npm test', 'npm test 2>&1 | tail -n 5', 'npm test; echo done']) {
    assert.deepEqual(readOnlyOf(npm, command), { policy: 'allow' }, command);
  }
  for (const command of [
    "sed -n 1p -e '1e x' f; npm test",
    'PATH=./evil; npm test',
    'npm test; ls',
    'echo $X; npm test',
  ]) {
    assert.deepEqual(readOnlyOf(npm, command), { policy: 'ask' }, command);
  }
  assert.deepEqual(readOnlyOf(rules('ask', [bash('allow')]), 'ls; make'), { policy: 'allow' });
  assert.deepEqual(readOnlyOf(rules('auto'), 'ls'), { policy: 'allow' });
  assert.deepEqual(readOnlyOf(rules('read-only', [bash('allow')]), 'ls'), {
    policy: 'allow',
    readOnly: { canAsk: false },
  });
});

/** Each would push, or run `x` whose value does. */
const indirect = [
  "env -S'git push'",
  "env -S 'git push'",
  'env -Sgit push',
  "env -vS'git push'",
  "env --split-string='git push'",
  "env --split-string 'git push'",
  "env --split='git push' origin",
  "env -S'git\\_push'",
  "bash +o posix -c 'git push'",
  "bash -o posix -c 'git push'",
  "bash --norc -x -c 'git push'",
  "bash -xc 'git push'",
  "bash --rcfile f -c 'git push'",
  "bash -O extglob -c 'git push'",
  'parallel git ::: push',
  'parallel git {} ::: push',
  "parallel 'git {}' ::: push",
  "parallel ::: 'git push'",
  'parallel -j4 git p{} ::: ush',
  'parallel -I ,, git ,, ::: push',
  'echo git push | parallel',
  'echo push | xargs -I% git %',
  'echo push | xargs -I % git %',
  'echo push | xargs git',
  'find push -exec git {} \\;',
  'let "x=a[\\$(git push)]"',
  'let x=y',
  "mapfile -C 'git push' -c 1 a < f",
  "mapfile -C'git push' a < f",
  "readarray -C 'git push' a < f",
  "compgen -C 'git push' x",
  "compgen -W '$(git push)'",
  "complete -C 'git push' x",
  "PS4='$(git push)'; set -x; ls",
  "PS4='$(git push)' bash -x f",
  "export PS4='$(git push)'; set -x; ls",
  "env PS4='$(git push)' bash -x f",
  "PROMPT_COMMAND='git push' bash -i",
  "GIT_SSH_COMMAND='git push' ls",
  "PAGER='git push' man x",
  'hash -p /usr/bin/git x; x push',
  "shopt -s expand_aliases; alias x='git push'\nx",
  'git -C . push',
  'git -C "$DIR" push',
  'git --git-dir=x --work-tree y push origin',
  'git -c a.b=c -C . push',
  'git -c alias.x=push x',
  "git -c alias.x='!git push' x",
  "git -c core.pager='git push' log",
  'sudo -u me git -C . push',
  'git --no-pager push',
  'git-push',
  '/usr/lib/git-core/git-push origin',
  "trap 'git push' EXIT",
  "trap -- 'git push' EXIT",
  'eval git push',
  'command git push',
  'exec -a x git push',
  'nohup git push',
  'timeout -k 5 9 git push',
  'fd . -xgit push',
  "su -c'git push'",
  "su --command='git push' me",
  "script -qc 'git push' /dev/null",
  "ssh -o ProxyCommand='git push' x",
  "ssh -oProxyCommand='git push' x",
  'x="a[\\$(git push)]"; echo $((x))',
  "a='a[$'; b='(git push)]'; x=$a$b; echo $((x))",
  'x=$(cat f); echo $((x + 1))',
  'x=$(cat f); echo "${y:x}"',
  'x=$(cat f); echo "${b[x]}"',
  'x=$(cat f); echo "${!x}"',
  'x=$(cat f); [[ $x -eq 1 ]]',
  'x=$(cat f); [[ x -eq 1 ]]',
  'x=$(cat f); test -v "$x"',
  'x=$(cat f); [ -v $x ]',
  'x=$(cat f); printf -v "$x" 1',
  'x=$(cat f); read "$x" < f',
  'x=$(cat f); unset "$x"',
  'x=$(cat f); declare -i y=$x',
  'x=$(cat f); a[x]=1',
  'wait -n -p "$x"',
  'enable -f ./x.so x',
  'fc -s',
];

test('matches patterns against commands that other programs run or that are assembled', () => {
  for (const policy of ['deny', 'ask'] as const) {
    const guard = rules('auto', [bash(policy, 'git push *')]);
    for (const command of indirect) assert.notEqual(judgeCommand(guard, command).policy, 'allow', command);
  }
  check(rules('auto', [bash('deny', 'git push *')]), [
    [
      'deny',
      'git -C . push',
      "env -S'git push'",
      'env -Sgit push',
      "bash +o posix -c 'git push'",
      'git --no-pager push',
    ],
    ['deny', "PS4='$(git push)'; set -x; ls", "mapfile -C 'git push' a", "su --command='git push' me", 'git-push x'],
    ['allow', 'git -C . status', 'git -C push status', 'git -c user.name=x commit -m "git push"', 'git log -- push'],
    ['allow', 'i=0; while [ $i -lt 3 ]; do i=$((i+1)); done', 'n=$(wc -l < f); echo $((n / 2))', 'x="${y:-push}"'],
    [
      'allow',
      'env A=1 npm test',
      'timeout 9 make',
      'bash -x build.sh',
      'find . -name push',
      'xargs -n1 ls',
      '[[ $# -eq 2 ]]',
    ],
    ['allow', 'for i in {1..3}; do echo ${a[i]}; done', 'export A="$B"', 'echo ${x#git} ${#x} ${x[@]}', 'trap - EXIT'],
    ['allow', 'parallel gzip ::: a b', 'alias', 'x=5; [[ $x -gt 3 ]] && echo git push', 'test -f "$x"'],
  ]);
});

test('judges hostile commands and patterns in bounded time', () => {
  const many = Array.from({ length: 200 }, (_, index) => bash('ask', `${'*a'.repeat(70)}${index}*`));
  const escaped = (text: string): string => text.replace(/[\\"$`]/g, '\\$&');
  const nested = (depth: number): string =>
    depth === 0 ? 'ls' : `${'env '.repeat(20)}"${escaped(nested(depth - 1))} "`;
  const hostile = [
    nested(4),
    `echo '${'['.repeat(30_000)}'`,
    `echo \${${'a'.repeat(30_000)}`,
    'a'.repeat(32_000),
    'sudo a '.repeat(4_000),
    `sudo ${'a '.repeat(16_000)}`,
    'a;'.repeat(16_000),
    '$('.repeat(16_000),
    `${'xargs sh -c "a" '.repeat(1_900)}`,
    `A[${'['.repeat(30_000)}`,
    `\${${'#'.repeat(30_000)}`,
    '<<E '.repeat(8_000),
    Array.from({ length: 2_000 }, (_, index) => `echo $((a${index}))`).join(';'),
    `x=1; ${'echo $((x));'.repeat(2_500)}`,
    `${'read '.repeat(6_000)} x=1; echo $((x))`,
    `for x in ${'1 '.repeat(15_000)} $((x))`,
    `git ${'-c a '.repeat(8_000)}`,
    `env ${'-Sabc '.repeat(30)}`,
    `git ${'a.b=c '.repeat(5_000)}`,
  ];
  for (const command of hostile) {
    const before = process.cpuUsage();
    judgeCommand(rules('auto', many), command);
    const { user, system } = process.cpuUsage(before);
    assert.ok((user + system) / 1000 < 1_000, command.slice(0, 30));
  }
});

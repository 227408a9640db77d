# The parent of one command; startSupervised starts it with the number of the system call prctl, whether to keep what the
# command leaves running, the rights of a command that may only read (read-only.ts) or nothing, whether both outputs are
# one, and the command.
#
# As its subreaper (prctl 36) every descendant stays below it, also those that left group, session and environment behind,
# so it can end them all: TERM asks them and kills what is left after 2 s, ALRM kills at once, and the daemon's own death
# (prctl 1) does the same. A foreground command's end ends what it left running; a kept one lives as long as any of them.
# Stopping all before killing any is what a storm of forks cannot outrun. Exits as the command did.
#
# The command writes into pipes made here, which the daemon opens through /proc: Node would give it sockets, and then
# nothing can be written to /dev/stdout and /dev/stderr.
$/ = undef;
$SIG{PIPE} = 'IGNORE';
my ($prctl, $keep, $rights, $joined, @command) = @ARGV;
my ($main, $status, $asked, $killed) = (0, 0, 0, 0);
sub tree {
  my (%below, @all);
  opendir my $proc, '/proc' or return;
  for my $id (grep { /^\d+$/ } readdir $proc) {
    open my $file, '<', "/proc/$id/stat" or next;
    my $text = <$file>;
    push @{$below{$2}}, $id if defined $text and $text =~ /.*\) (\S) (\d+)/s and $1 ne 'Z';
  }
  my @next = ($$);
  while (@next) { my $found = $below{shift @next} or next; push @all, @$found; push @next, @$found }
  return @all;
}
sub pause { select undef, undef, undef, shift }
sub reap { my $id; while (($id = waitpid -1, 1) > 0) { $status = $? if $id == $main } return $id < 0 }
sub slay {
  for (1 .. 400) {
    my %stopped;
    for (1 .. 200) { my @new = grep { !$stopped{$_}++ } tree() or last; kill 'STOP', @new }
    kill 'KILL', keys %stopped;
    # Only this says that nothing is left: what forks and exits while /proc is read is not found there.
    return if reap();
    pause(.005);
  }
}
sub leave {
  for (1 .. 25) { return if reap(); pause(.02) }
  my @left = tree();
  my $said = @left . ' left running by the command: ended. Run it in the background to keep it';
  print STDERR "[$said]\n" if @left and !$asked;
  kill 'TERM', @left;
  for (1 .. 100) { return if reap(); pause(.02) }
  slay();
}
# Gives up, for good and for all descendants, every right to write, to open a connection and to reach other processes:
# Landlock (linux/landlock.h) for files, then the seccomp filter for the rest. Any failure ends it before the command.
sub confine {
  my ($openat, $setsid, $filter) = split /,/, $rights;
  my $must = sub { my $answer = shift; $answer >= 0 or die "$_[0]: $!\n"; $answer };
  $must->(syscall($setsid + 0), 'setsid');
  # Execute 1, write file 2, read file 4, read folder 8; the rest of the first version, then refer, truncate, devices.
  my $version = $must->(syscall(444, 0, 0, 1), 'Landlock');
  my $files = 0x1fff | ($version >= 2 ? 0x2000 : 0) | ($version >= 3 ? 0x4000 : 0) | ($version >= 5 ? 0x8000 : 0);
  my $handled = pack 'Q', $files;
  # TCP, from the fourth version; abstract sockets and signals, from the sixth.
  $handled .= pack 'Q', 3 if $version >= 4;
  $handled .= pack 'Q', 3 if $version >= 6;
  my $rules = $must->(syscall(444, $handled, length $handled, 0), 'landlock_create_ruleset');
  my $allow = sub {
    my ($path, $access) = @_;
    my $place = "$path\0";
    # AT_FDCWD; O_PATH | O_CLOEXEC.
    my $opened = syscall $openat + 0, -100, $place, 0x280000, 0;
    return if $opened < 0;
    my $rule = pack 'Ql', $access, $opened;
    $must->(syscall(445, $rules, 1, $rule, 0), "landlock_add_rule $path");
  };
  opendir my $root, '/' or die "/: $!\n";
  # In /run are the workspace's tokens and sockets; of /dev, only what has no effect.
  for my $path (map { "/$_" } grep { !/^(?:\.\.?|run|dev)$/ } readdir $root) {
    next if -l $path;
    $allow->($path, -d _ ? 13 : 5) if -d _ or -f _;
  }
  $allow->('/', 8);
  $allow->("/dev/$_", 4) for qw(zero full random urandom);
  $allow->('/dev/null', 6 | ($version >= 3 ? 0x4000 : 0));
  $must->(syscall($prctl + 0, 38, 1, 0, 0, 0), 'no_new_privs');
  $must->(syscall(446, $rules, 0), 'landlock_restrict_self');
  my $code = pack 'H*', $filter;
  my $program = pack 'S x6 P', length($code) / 8, $code;
  $must->(syscall($prctl + 0, 22, 2, $program, 0, 0), 'seccomp');
}
$SIG{ALRM} = sub { $killed = 1; slay() };
$SIG{TERM} = sub { return if $asked++; kill 'TERM', tree(); alarm 2 };
for my $name (qw(INT HUP QUIT USR1 USR2)) { $SIG{$name} = sub { kill $name, -$main if $main } }
my @pipes = map { pipe my $read, my $write; [$read, $write] } 1, 2;
syswrite STDOUT, join(' ', map { fileno $_->[0] } @pipes) . "\n";
my $answer = <STDIN>;
length $answer or exit 125;
# Without pipes the command would write into a socket.
if ($rights and $answer ne 'opened') { print STDERR "the command cannot be kept from writing\n"; exit 126 }
if ($answer eq 'opened') { open STDOUT, '>&', $pipes[0][1]; open STDERR, '>&', $pipes[1][1] }
@pipes = ();
open STDIN, '<', '/dev/null';
syscall $prctl + 0, 36, 1, 0, 0, 0;
syscall $prctl + 0, 1, 14, 0, 0, 0;
if (open my $file, '>', '/proc/self/oom_score_adj') { print $file 500 }
$main = fork;
if (!defined $main) { print STDERR "cannot start a process: $!\n"; exit 126 }
if ($main == 0) {
  $SIG{PIPE} = 'DEFAULT';
  # In one pipe, what is written keeps its order.
  open STDERR, '>&', STDOUT if $joined;
  if ($rights) {
    eval { confine(); 1 } or do { print STDERR "the command cannot be kept from writing: $@"; exit 126 };
  } else {
    setpgrp 0, 0;
  }
  exec { $command[0] } @command;
  exit 127;
}
setpgrp $main, $main unless $rights;
# It may have come when there was nothing to kill.
slay() if $killed;
while ((my $id = waitpid -1, 0) > 0) { if ($id == $main) { $status = $?; leave() unless $keep } }
alarm 0;
if (my $signal = $status & 127) { $SIG{$_} = 'DEFAULT' for keys %SIG; kill $signal, $$; pause(1) }
exit $status >> 8;

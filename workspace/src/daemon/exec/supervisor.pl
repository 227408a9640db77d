# The parent of one command; startSupervised starts it with the number of the system call prctl, whether to keep what the
# command leaves running, and the command.
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
my ($prctl, $keep, @command) = @ARGV;
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
$SIG{ALRM} = sub { $killed = 1; slay() };
$SIG{TERM} = sub { return if $asked++; kill 'TERM', tree(); alarm 2 };
for my $name (qw(INT HUP QUIT USR1 USR2)) { $SIG{$name} = sub { kill $name, -$main if $main } }
my @pipes = map { pipe my $read, my $write; [$read, $write] } 1, 2;
syswrite STDOUT, join(' ', map { fileno $_->[0] } @pipes) . "\n";
my $answer = <STDIN>;
length $answer or exit 125;
if ($answer eq 'opened') { open STDOUT, '>&', $pipes[0][1]; open STDERR, '>&', $pipes[1][1] }
@pipes = ();
open STDIN, '<', '/dev/null';
syscall $prctl + 0, 36, 1, 0, 0, 0;
syscall $prctl + 0, 1, 14, 0, 0, 0;
if (open my $file, '>', '/proc/self/oom_score_adj') { print $file 500 }
$main = fork;
if (!defined $main) { print STDERR "cannot start a process: $!\n"; exit 126 }
if ($main == 0) { $SIG{PIPE} = 'DEFAULT'; setpgrp 0, 0; exec { $command[0] } @command; exit 127 }
setpgrp $main, $main;
# It may have come when there was nothing to kill.
slay() if $killed;
while ((my $id = waitpid -1, 0) > 0) { if ($id == $main) { $status = $?; leave() unless $keep } }
alarm 0;
if (my $signal = $status & 127) { $SIG{$_} = 'DEFAULT' for keys %SIG; kill $signal, $$; pause(1) }
exit $status >> 8;

# What native code would try that has taken a sandbox process over. Prints a line for each attempt: its name, and 1 if it
# succeeded. It loads no module, since it may find none. Permanent changes of the process come last.
my ($arch, $victim, $folder, $port, $socket, $abstract, $source, $own) = @ARGV;
my %number = $arch eq 'x64'
  ? (ptrace => 101, unshare => 272, mount => 165, add_key => 248, io_uring_setup => 425)
  : (ptrace => 117, unshare => 97, mount => 40, add_key => 217, io_uring_setup => 425);
my ($EPERM, $ENODEV, $ENOSYS) = (1, 19, 38);
$| = 1;
$SIG{XFSZ} = 'IGNORE';

sub attempt {
  my ($name, $action) = @_;
  print "$name\t", ($action->() ? 1 : 0), "\n";
}

sub reads {
  my ($path) = @_;
  open(my $file, '<', $path) or return 0;
  return sysread($file, my $bytes, 64) > 0;
}

sub writes {
  my ($path) = @_;
  open(my $file, '>', $path) or return 0;
  unlink $path;
  return 1;
}

sub connects {
  my ($family, $address) = @_;
  socket(my $to, $family, 1, 0) or return 0;
  return connect($to, $address);
}

attempt('read the master key', sub { reads("$folder/master.key") });
attempt('list the data folder', sub { opendir(my $dir, $folder) });
attempt('read the passwords of the system', sub { reads('/etc/shadow') });
attempt('read the program of the service', sub { reads($source) });
attempt('find a shell', sub { -x '/bin/sh' });
attempt('write elsewhere', sub { grep { writes("$_/croft-escape-$$") } '', '/tmp', $folder, '/dev/shm' });
attempt('connect to a socket in a folder', sub { connects(1, pack('S a108', 1, $socket)) });
attempt('connect to an abstract socket', sub { connects(1, pack('S a*', 1, "\0$abstract")) });
attempt('connect to a port', sub { connects(2, pack('S n C4 x8', 2, $port, 127, 0, 0, 1)) });
attempt('make a netlink socket', sub { socket(my $raw, 16, 3, 0) });
attempt('make a raw socket', sub { socket(my $raw, 2, 3, 1) });
attempt('see the service', sub { kill(0, $victim) || $! == $EPERM });
attempt('signal the service', sub { kill(0, $victim) });
attempt('read the environment of the service', sub { reads("/proc/$victim/environ") });
attempt('read the memory of the service', sub { open(my $file, '<', "/proc/$victim/mem") });
attempt('trace the service', sub { syscall($number{ptrace}, 0x4206, $victim + 0, 0, 0) == 0 });
attempt('be root', sub { $< = 0; $> = 0; $< == 0 });
attempt('keep a key in the kernel', sub { syscall($number{add_key}, my $type = 'user', my $of = 'croft', my $key = 'x', 1, -2) > 0 });
attempt('use the ring of the kernel', sub { syscall($number{io_uring_setup}, 0, 0) != 0 && $! != $ENOSYS && $! != $EPERM });
attempt('leave a core file', sub { open(my $file, '<', '/proc/self/limits') or return 0; grep { /^Max core file size\s+(\S+)\s+(\S+)/ && $2 ne '0' } <$file> });
attempt('write a large file', sub {
  open(my $file, '>', $own) or return 0;
  for (1 .. 10) { (syswrite($file, 'x' x 1048576) // 0) == 1048576 or return 0 }
  return truncate($file, 0);
});
attempt('open many files', sub {
  my @open;
  for (1 .. 400) { open(my $file, '<', '/dev/null') or return 0; push @open, $file }
  return 1;
});
attempt('make a process', sub {
  my $pid = fork;
  exit 0 if defined $pid && $pid == 0;
  return defined $pid && waitpid($pid, 0) == $pid;
});
attempt('make hundreds of processes', sub {
  my @made;
  for (1 .. 1000) {
    my $pid = fork;
    last unless defined $pid;
    if ($pid == 0) { sleep 60; exit 0 }
    push @made, $pid;
  }
  kill('KILL', @made);
  waitpid($_, 0) for @made;
  return @made == 1000;
});
# A process that may mount gets the error that there is no such file system.
attempt('mount a file system', sub { syscall($number{mount}, my $none = 'none', my $at = '/', my $kind = 'croft-none', 0, 0) != 0 && $! == $ENODEV });
attempt('be root of a namespace', sub { syscall($number{unshare}, 0x10000000) == 0 });

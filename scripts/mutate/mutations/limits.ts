import { type Mutation, faultsOf } from '#scripts/mutate/mutation.ts'

const of = faultsOf('limits')

const COUNTERS = 'src/platform/redis/memory-counters.ts'
const COUNTERS_TEST = ['src/platform/redis/memory-counters.test.ts']

/** Bounds of what one site, network or process may take. */
export const LIMITS: readonly Mutation[] = [
  of(
    'guesses at a password',
    [
      'src/identity/rate-limits/failure-counter.ts',
      '  account: guessRule(5)',
      '  account: guessRule(500)',
    ],
    'passwords are guessed',
    ['test/identity/defence.test.ts'],
  ),
  of(
    'tries at a mailed code',
    ['src/identity/mailed-codes.ts', 'MAX_CODE_ATTEMPTS = 5', 'MAX_CODE_ATTEMPTS = 5_000'],
    'six digits are guessed',
    ['src/identity/accounts/candidate-sign-ups.test.ts'],
  ),
  of(
    'waits that do not grow',
    [
      COUNTERS,
      'rule.firstWaitMs * 2 ** (count - rule.free)',
      'rule.firstWaitMs * 1 ** (count - rule.free)',
    ],
    'a guess a second, all day',
    COUNTERS_TEST,
  ),
  of(
    'waits that need not be kept',
    [COUNTERS, "(step === 'begin' && waits)", "(step === 'undo' && waits)"],
    'limits refuse no one',
    COUNTERS_TEST,
  ),
  of(
    'memory of one site',
    ['src/base/memory-budget.ts', '      permitsPerKey: maxBytesPerKey,\n', ''],
    'one site takes the memory of all',
    ['src/base/memory-budget.test.ts'],
  ),
  of(
    'host calls that wait',
    [
      'src/platform/sandbox-host/host-call-limiter.ts',
      'queue.waitingLength + queued.length > MAX_WAITING_LENGTH',
      'queue.waitingLength + queued.length > Infinity',
    ],
    'arguments of one site fill the memory',
    ['src/platform/sandbox-host/host-call-limiter.test.ts'],
  ),
  of(
    'depth of a body',
    [
      'src/base/json-depth.ts',
      'if (text.length > limit * 2) refuse(',
      'if (text.length < 0 * limit) refuse(',
    ],
    'a parser recurses until the process ends',
    ['src/base/json-depth.test.ts'],
  ),
  of(
    'size of an item',
    [
      'src/runtime/tables/items/size.ts',
      'if (itemSize(item) <= MAX_ITEM_BYTES) return',
      'if (itemSize(item) <= MAX_ITEM_BYTES * 100) return',
    ],
    'a table takes what DynamoDB refuses',
    ['src/runtime/tables/items/size.test.ts'],
  ),
  of(
    'processes of a sandbox',
    [
      'src/platform/sandbox-host/isolation/seccomp-filter.ts',
      'jump(JUMP_BITS, CLONE_THREAD, [0, 1])',
      'jump(JUMP_BITS, CLONE_THREAD, [0, 0])',
    ],
    'site code that breaks out starts programs',
    ['src/platform/sandbox-host/isolation/seccomp-filter.test.ts'],
  ),
  of(
    'architectures of a sandbox',
    [
      'src/platform/sandbox-host/isolation/seccomp-filter.ts',
      'instruction(RETURN, KILL_PROCESS),\n    instruction(LOAD, AT_NUMBER)',
      'instruction(RETURN, ALLOW),\n    instruction(LOAD, AT_NUMBER)',
    ],
    'the 32-bit numbers of calls pass the filter',
    ['src/platform/sandbox-host/isolation/seccomp-filter.test.ts'],
  ),
  of(
    'entries of a statement',
    [
      'src/base/statement-batcher.ts',
      'lane.waiting.splice(0, this.#most)',
      'lane.waiting.splice(0)',
    ],
    'a crowd makes a statement that Postgres refuses',
    ['src/base/statement-batcher.test.ts'],
  ),
]

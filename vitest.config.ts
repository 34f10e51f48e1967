import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

import { arePackagesInstalled } from './scripts/extra-packages.ts'
import { peerTests } from './scripts/peer-tests.ts'

/** Those that take longest, the longest first. Begun last, one of them would run alone at the end. */
const LONG = [
  'test/cli/readme.test.ts',
  'test/isolation/page-gate.test.ts',
  'test/browser/oidc-client-ts.test.ts',
  'test/browser/proof.test.ts',
  'test/browser/passkeys.test.ts',
  'test/sandbox/engine/preparation.test.ts',
  'test/sandbox/attacks/attacks.test.ts',
  'test/boot/sign-in-restart.test.ts',
  'test/power-cut/service.test.ts',
  'test/boot/push-restart.test.ts',
  'test/boot/job-drain.test.ts',
  'test/repository/push.test.ts',
  'test/mail/inbound-crash.test.ts',
  'test/mail/delivery-notices.test.ts',
  'test/platform-outside/http-server.test.ts',
  'test/platform/queue.test.ts',
  'test/mail/delivery.test.ts',
  'test/sandbox/engine/hostile.test.ts',
  'test/sandbox/engine/hosts.test.ts',
  'test/jobs/replicas.test.ts',
  'test/mail/crash.test.ts',
  'test/sandbox/attacks/quarantine.test.ts',
  'test/admin-data/table-quota.test.ts',
  'test/oidc/enumeration.test.ts',
  'test/boot/embedded-restart.test.ts',
  'test/platform/embedded-postgres.test.ts',
  'test/boot/users.test.ts',
  'test/boot/iac-restart.test.ts',
  'test/boot/deployment-restart.test.ts',
  'test/pages/any-replica.test.ts',
  'test/jobs/faults.test.ts',
  'test/boot/drain.test.ts',
  'test/tables/actions-differential.peers.test.ts',
  'test/boot/built-on-runtimes.test.ts',
  'test/oidc/refusal-table.test.ts',
]
/** Of these a run of the services goes a tenth. */
const JOURNEYS = [
  'test/boot/push-restart.test.ts',
  'test/mail/inbound-crash.test.ts',
  'test/mail/sending-crash.test.ts',
  'test/mail/local-mail-crash.test.ts',
  'test/tables/actions-differential.peers.test.ts',
]
const missing = [...LONG, ...JOURNEYS].filter(
  (path) => !existsSync(join(import.meta.dirname, path)),
)
if (missing.length > 0) throw new Error(`vitest.config.ts names ${missing.join(', ')}: not there`)

/** Stands in for the library that hashes passwords. */
const CHEAP_ARGON2 = fileURLToPath(import.meta.resolve('./test/support/cheap-argon2.ts'))

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONG.findIndex((path) => moduleId.endsWith(path))
      return at < 0 ? LONG.length : at
    }
    return (await super.sort(files)).toSorted((one, other) => place(one) - place(other))
  }
}

const PEER_TESTS = [peerTests({ isInstalled: arePackagesInstalled('peers') })]
const SERVICES_RESOLVE = { alias: { '@node-rs/argon2': CHEAP_ARGON2 } }
const SERVICES = {
  globalSetup: ['test/support/global-setup.ts'],
  // A process that has loaded the service runs the next file with a quarter less work.
  isolate: false,
  setupFiles: ['test/support/clean-process.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // A busy machine takes its time; nothing waits longer than it must.
  expect: { poll: { timeout: 30_000 } },
}

if (Number.parseInt(process.versions.node, 10) < 24) {
  process.emitWarning(`The tests need Node 24, not ${process.version}: see CONTRIBUTING.md`)
}

export default defineConfig({
  test: {
    // One more than run at once: much of a service test is waiting for mail, a browser or a process that was killed.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          name: 'unit',
          // They share no state to be kept apart, and a process for each file cost more than its tests.
          isolate: false,
          // A busy machine takes its time.
          testTimeout: 60_000,
          include: [
            'src/**/*.test.ts',
            'sandbox/**/*.test.ts',
            'scripts/**/*.test.ts',
            'bench/**/*.test.ts',
            'conformance/**/*.test.ts',
            'packages/**/*.test.ts',
          ],
        },
      },
      {
        plugins: PEER_TESTS,
        resolve: SERVICES_RESOLVE,
        test: {
          ...SERVICES,
          name: 'services',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/chaos/**', 'test/scale/**'],
        },
      },
      // What takes minutes, or a disk of its own: not in every run.
      {
        plugins: PEER_TESTS,
        resolve: SERVICES_RESOLVE,
        test: {
          ...SERVICES,
          name: 'nightly',
          include: ['test/{chaos,scale}/**/*.test.ts', ...JOURNEYS],
          env: { CROFT_TEST_SHARE: '1' },
          testTimeout: 3_600_000,
        },
      },
    ],
  },
})

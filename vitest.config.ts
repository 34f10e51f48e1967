import { availableParallelism } from 'node:os'
import { join } from 'node:path'

import { defineConfig } from 'vitest/config'

// Every test file has a process of its own, as has each call of the program, and they all load the same modules.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, 'node_modules/.compile-cache')

export default defineConfig({
  test: {
    // One more than run at once: much of a service test is waiting for mail, a browser or a process that was killed.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            'src/**/*.test.ts',
            'sandbox/**/*.test.ts',
            'scripts/**/*.test.ts',
            'bench/**/*.test.ts',
          ],
        },
      },
      {
        test: {
          name: 'services',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          // A busy machine takes its time; nothing waits longer than it must.
          expect: { poll: { timeout: 30_000 } },
        },
      },
    ],
  },
})

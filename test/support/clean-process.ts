import { afterAll, vi } from 'vitest'

/** Files of tests share processes: none leaves to the next what it looks through, or says of its surroundings. */
afterAll(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

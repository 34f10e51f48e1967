import { describe, expect, test } from 'vitest'

import { checkReadiness } from './readiness.ts'

const hangs = (): Promise<never> => new Promise(() => {})
const services = {
  sandbox: { status: () => ({ ready: true }) },
  smtp: { isListening: true },
  submission: { isListening: true },
} as unknown as Parameters<typeof checkReadiness>[2]

const platform = (ping: () => Promise<never>) =>
  ({
    config: { roles: ['api'] },
    postgres: { database: { ping } },
    sharedCache: { ping },
    disk: { disks: [{ isFull: true }] },
  }) as unknown as Parameters<typeof checkReadiness>[0]

describe('what is ready', () => {
  test('is reported though parts hang, which are named', async () => {
    expect(await checkReadiness(platform(hangs), { ping: hangs }, services)).toEqual({
      postgres: 'does not answer',
      objects: 'does not answer',
      disk: 'below its reserve',
      redis: 'does not answer',
      sandbox: 'ok',
    })
  })

  test('names a part that fails', async () => {
    const fails = () => Promise.reject(new Error('gone'))
    const ready = await checkReadiness(platform(fails), { ping: async () => {} }, services)
    expect(ready).toMatchObject({ postgres: 'does not answer', objects: 'ok' })
  })
})

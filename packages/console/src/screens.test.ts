import { expect, test } from 'vitest'

import { AREAS, SCREENS } from './screens.ts'

/** The first parts of the paths that the service answers on every host. */
const RESERVED = [
  '-',
  'admin',
  'data',
  'healthz',
  'livez',
  'objects',
  'oidc',
  'portal',
  'readyz',
  'signed-in',
  'site.git',
]

test('no screen is below a path that the service answers', () => {
  const taken = SCREENS.filter(({ path }) => RESERVED.includes(path.split('/')[1] ?? ''))
  expect(taken.map(({ path }) => path)).toEqual([])
})

test('every screen has a path of its own, and is in an area of the navigation', () => {
  expect(new Set(SCREENS.map(({ path }) => path)).size).toBe(SCREENS.length)
  for (const { area } of SCREENS) expect(AREAS).toContain(area)
})

test.each(SCREENS.map((screen) => [screen.path, screen] as const))(
  '%s is loaded',
  async (_path, screen) => {
    expect(await screen.load()).toBeTypeOf('function')
  },
)

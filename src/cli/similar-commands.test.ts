import { expect, test } from 'vitest'

import { commandNames } from './commands.ts'
import { similarCommands } from './similar-commands.ts'

test.each([
  ['logs', ['site logs']],
  ['sit', ['site']],
  ['site crate', ['site create']],
  ['site exprot', ['site export']],
  ['unsuppress', ['mail unsuppress']],
  ['mailbx create', ['mailbox create']],
  ['docter', ['doctor']],
  ['user shop.example', ['users']],
  ['frobnicate', []],
  ['site remove', []],
  ['x', []],
])('"%s" may mean %j', (call, expected) => {
  expect(similarCommands(call.split(' '), commandNames)).toEqual(expected)
})

import { describe, expect, test } from 'vitest'

import { CommonPasswords } from './common-passwords.ts'
import { COMMON_WORDS } from './common-words.ts'

const common = new CommonPasswords()

describe('the list of common passwords', () => {
  test.each([
    'password',
    'Password1!',
    'P@ssw0rd',
    'P@ssw0rd2026!',
    'Pa$$w0rd123',
    'Passw0rd!',
    '123456789',
    '12345678',
    '87654321',
    'Aa123456!',
    'Qwerty123!',
    'qwertyuiop',
    '1q2w3e4r5t',
    '1qaz2wsx',
    '1qaz2wsx3edc',
    'Welcome1!',
    'Summer2026!',
    'Winter_2025',
    'letmein!',
    'L3tm3in!',
    'iloveyou1',
    'Admin123!',
    'adm1n1strator',
    'changeme123',
    'AAAAAAAA',
    'abcdefgh',
    'dragondragon',
    'Qweasdzxc1!',
    'Qwerty-asdfgh-1',
    'Azertyuiop9!',
    'Poiuytrewq1!',
    'Zaqwsxcde1!',
    'trustno1',
  ])('has "%s"', (password) => {
    expect(common.has(password)).toBe(true)
  })

  test.each([
    'Tr4vel-light',
    'correct horse battery staple',
    'Correct-Horse-9-Battery',
    'V7#mq!Lz02',
    'Sunflowers-grow-9-feet',
    'xK9$pQ2m',
    'nine-Lives-8',
    'Путешествие-9',
    '日本語のパスワード',
    '🦊🦊🦊🦊🦊🦊🦊🐻',
  ])('does not have "%s"', (password) => {
    expect(common.has(password)).toBe(false)
  })

  test('is of words as it looks them up', () => {
    for (const word of COMMON_WORDS) expect(word).toMatch(/^[a-z]{4,}$/)
    expect(COMMON_WORDS.size).toBeGreaterThan(500)
  })
})

import { COMMON_WORDS } from './common-words.ts'

/** How letters are disguised. A sign that stands for two letters is tried as each. */
const DISGUISES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '!': 'i',
  '3': 'e',
  '4': 'a',
  '@': 'a',
  '5': 's',
  $: 's',
  '7': 't',
  '8': 'b',
}
const DISGUISED_L = { ...DISGUISES, '1': 'l', '!': 'l' }
/** Along the rows of keyboards, or down their columns, in one direction or the other. */
const RUNS = [
  '01234567890',
  '1q2w3e4r5t6y7u8i9o0p',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  '1qazxsw23edcvfr45tgbnhy67ujm',
  'qazwsxedcrfvtgbyhnujmikolp',
  'qwertyuiop',
  'asdfghjkl',
  'zxcvbnm',
  'qwertzuiop',
  'yxcvbnm',
  'azertyuiop',
  'qsdfghjklm',
  'wxcvbn',
  'abcdefghijklmnopqrstuvwxyz',
]
const MIN_RUN = 4
/** Of a walk that goes on elsewhere: `qweasdzxc`. */
const MIN_PART = 3
/** What is longer is long for other reasons. */
const MAX_WALK = 64

/**
 * The commonest passwords, and what people make of them: `Password1!`, `P@ssw0rd2026`, `qwerty123$`, `Aa123456!`. A guess
 * that is tried first is refused first; anything longer than a decorated word is left alone.
 */
export class CommonPasswords {
  has(password: string): boolean {
    const lower = password.toLowerCase()
    return coresOf(lower).some((core) => isWeak(core))
  }
}

/** What is left of a password without its decoration, in each way to read it. */
function coresOf(lower: string): string[] {
  const ends = /^[\W\d_]+|[\W\d_]+$/g
  return [
    lower,
    lower.replace(ends, ''),
    lower.replaceAll(/[\W_]/g, ''),
    lower.replaceAll(/[\W_]/g, '').replaceAll(ends, ''),
    ...[DISGUISES, DISGUISED_L].flatMap((disguise) => {
      const core = lower.replace(/[\W_\d]{1,4}$/, '')
      return [withoutDisguise(lower, disguise), withoutDisguise(core, disguise).replace(ends, '')]
    }),
  ]
}

const withoutDisguise = (text: string, disguise: Readonly<Record<string, string>>): string =>
  Array.from(text, (letter) => disguise[letter] ?? letter).join('')

function isWeak(core: string): boolean {
  if (COMMON_WORDS.has(core)) return true
  const half = core.slice(0, core.length / 2)
  if (core === half + half && COMMON_WORDS.has(half)) return true
  return isRun(core.replace(/^a{1,2}(?=\d)/, ''))
}

/** One sign over and over, or a stretch of a keyboard or alphabet. */
function isRun(core: string): boolean {
  if (core.length < MIN_RUN) return false
  if (/^(.)\1*$/u.test(core)) return true
  const backwards = Array.from(core).toReversed().join('')
  return isPartOfRun(core) || isPartOfRun(backwards) || isWalk(core)
}

const isPartOfRun = (text: string): boolean => RUNS.some((run) => run.includes(text))

/** Whether it can be cut into stretches of keyboards, all of it. */
function isWalk(core: string): boolean {
  if (core.length > MAX_WALK) return false
  /** Lengths from the start that can be. */
  const walked = new Set([0])
  for (let end = MIN_PART; end <= core.length; end += 1) {
    for (const start of walked) {
      const part = core.slice(start, end)
      if (part.length < MIN_PART || !isStretch(part)) continue
      walked.add(end)
      break
    }
  }
  return walked.has(core.length)
}

const isStretch = (part: string): boolean =>
  isPartOfRun(part) || isPartOfRun(Array.from(part).toReversed().join('')) || /^(.)\1+$/u.test(part)

import type { Duplex } from 'node:stream'

/** Refs of one push, at about 150 characters each. */
const MAX_CHARACTERS = 256 * 1024
const END = '\n.\n'
const COMMAND = /^([0-9a-f]{40,64}) ([0-9a-f]{40,64}) (\S.*)$/

/** One ref that a push changes; an id of zeros alone stands for one that is not there. */
export interface RefUpdate {
  readonly name: string
  /** Undefined for a ref that is new. */
  readonly oldOid: string | undefined
  /** Undefined for a ref that goes. */
  readonly newOid: string | undefined
}

/** A push that waits for a decision. Its objects are set apart until then. */
export interface PushedRefs {
  /** The absolute path of the folder with the new objects. */
  readonly objectDirectory: string
  readonly updates: readonly RefUpdate[]
  /** Aborted when the one who pushes is gone. */
  readonly signal: AbortSignal
  /** A line for the client that pushes. */
  progress(line: string): void
}

/** Whether a push is taken. What it throws refuses it. */
export type DecidePush = (push: PushedRefs) => Promise<boolean>

/** Answers the hook at the other end of the channel. */
export function answerHook(channel: Duplex, decide: DecidePush): void {
  const gone = new AbortController()
  let text = ''
  let asked = false
  channel.on('error', () => gone.abort())
  channel.on('close', () => gone.abort())
  channel.on('data', (chunk: Buffer) => {
    if (asked) return
    text += chunk.toString('utf8')
    if (text.length > MAX_CHARACTERS) {
      asked = true
      channel.end('+A push changes fewer refs than this\nrefuse\n')
    } else if (text.endsWith(END)) {
      asked = true
      void answer(text.slice(0, -END.length))
    }
  })

  async function answer(asking: string): Promise<void> {
    const progress = (line: string): void => {
      for (const each of line.split('\n')) channel.write(`+${each.replaceAll(/\p{Cc}/gu, ' ')}\n`)
    }
    const taken = await Promise.resolve()
      .then(() => decide({ ...parse(asking), signal: gone.signal, progress }))
      .catch(() => false)
    channel.end(taken ? 'accept\n' : 'refuse\n')
  }
}

function parse(text: string): Pick<PushedRefs, 'objectDirectory' | 'updates'> {
  const [objectDirectory = '', ...lines] = text.split('\n')
  return { objectDirectory, updates: lines.filter((line) => line !== '').map(updateOf) }
}

function updateOf(line: string): RefUpdate {
  const [, oldOid = '', newOid = '', name = ''] = COMMAND.exec(line) ?? []
  if (name === '') throw new Error('git named a ref in a way that is not known')
  return { name, oldOid: unlessZero(oldOid), newOid: unlessZero(newOid) }
}

const unlessZero = (oid: string): string | undefined => (/^0+$/.test(oid) ? undefined : oid)

import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Visitor, parseSync } from 'oxc-parser'

/** A place where a text has a word that a reader stumbles over, and what to write. */
export interface RefusedWord {
  readonly line: number
  readonly word: string
  readonly instead: string
}

/** Words that are refused, each with the plain word or what to do. A blank matches any white space, `|` separates forms. */
const REFUSED: readonly (readonly [words: string, instead: string])[] = [
  ['whom|whomever|whoever|whosoever', 'name it: "the caller", "a client that …", "the user who …"'],
  ['(?:for|to) who', '"for those who …", or the noun'],
  ['nobody', '"no one", or the noun: "no caller", "no user"'],
  ['somebody|anybody|everybody', '"a user", "any client", "everyone", or the noun'],
  ['who is none|who are none|those who are none', '"every other user", "an unknown user"'],
  ['meanwhile', '"since then", "during the call", or nothing'],
  ['anew|once more', '"again"'],
  ['seldom', '"rarely"'],
  ['hitherto|henceforth', '"so far", "from now on"'],
  ['thereof|therein|thereby|wherein|whereby', '"of it", "in it", "so that"'],
  ['hence|whence|whither|wherefrom|thus', '"so", "from where"'],
  ['upon', '"on"'],
  ['lest|ere|albeit|naught|nought', '"so that … not", "before", "although", "nothing"'],
  ['told', '"is reported", "gets", "is notified", "learns"'],
  ['tells? of', '"reports", "lists", "describes"'],
  ['hears?|heard|unheard', '"receives", "is notified", "without a notification"'],
  ['what stands', 'name it: "the value", "the text after …", "the walls around …"'],
  ['stands?(?! (?:in )?for\\b| out\\b)|stood', '"is", "exists", "is valid", "depends on"'],
  ['(?:is|are) let(?! out\\\\b)', '"may"'],
  ['lets? go', '"releases"'],
  ['gives? way', '"yields"'],
  ['comes? to nothing', '"has no effect"'],
  ['in its stead|in their stead', '"instead"'],
  ['as it came|as they came', '"unchanged"'],
  ['for good', '"permanently"'],
  ['in vain', '"without success"'],
  ['of late', '"recently"'],
  ['by turns', '"in turn"'],
  ['befalls?', '"happens to"'],
  ['under way', '"in progress", "in flight", "running"'],
  ['but for', '"except for"'],
  ['all the same', '"in either case", "even so"'],
  ['of before', '"former", "earlier"'],
  ['(?:came|comes?) of', '"the result of"'],
  ['goes by|go by', '"uses", "passes"'],
  ['at hand', '"available", "loaded", "current"'],
  ['(?:takes?|took|taken) back', '"withdraw", "roll back", "restore", "uncount"'],
  ['alike', '"the same", "equally", "both"'],
  ['(?:leads?|led) nowhere', '"has no target", "does not resolve"'],
  ['comes? home', '"returns"'],
  ['to and fro', '"back and forth"'],
  ['forgives?|forgiven', '"resets", "excuses"'],
  ['unasked|untold', '"without consent", "unknown"'],
]

/** Between two words, which may be on two lines of a comment. */
const BETWEEN = String.raw`\s+(?:(?:\*|//)\s+)?`

// Names in code within a text, and names in quotes, are no words: `told(`, `heard =`, `"nobody"`.
const PATTERNS = REFUSED.map(([words, instead]) => ({
  instead,
  pattern: new RegExp(
    String.raw`(?<![\p{L}\d_@$/.-])(?!(?<=")(?:${words})")(?:${words.replaceAll(' ', BETWEEN)})(?![\p{L}\d_@/(-]|\.\w|\s*=)`,
    'giu',
  ),
}))

const READ =
  '{*,{src,sandbox,scripts,bench,conformance,test,sdk,bin,types,examples,deploy,docs,decisions}/**/*}.{ts,js,cjs,mjs,md,yml,yaml}'

/** Data, written pages of others, and what is generated from texts that are checked where they are written. */
const LEFT_OUT: readonly RegExp[] = [
  /(?:^|\/)(?:node_modules|dist)\//,
  /^test\/(?:corpus|cli\/packages)\//,
  /^conformance\/(?:fixtures|functions)\//,
  /^test\/http\/(?:golden|route)-table\.md$/,
  /^scripts\/structure\/plain-words(?:\.test)?\.ts$/,
]

/** The catalogue of English texts; the other languages are translations. */
const CATALOGUE = 'src/languages/catalogues/en.json'

/** The refused words of one file: of a script in comments and in texts of several words, of another file in all but code. */
export function refusedWords(path: string, text: string): RefusedWord[] {
  // Most files have none, and parsing takes longer than looking.
  if (!PATTERNS.some(({ pattern }) => text.search(pattern) >= 0)) return []
  const shown = /\.[cm]?[jt]s$/.test(path) ? scriptTexts(path, text) : proseOf(text)
  return PATTERNS.flatMap(({ pattern, instead }) =>
    Array.from(shown.matchAll(pattern), ({ 0: word, index }) => ({
      line: shown.slice(0, index).split('\n').length,
      word: word.replaceAll(/\s+(?:(?:\*|\/\/)\s+)?/g, ' '),
      instead,
    })),
  ).toSorted((one, other) => one.line - other.line)
}

/** Those of all files under `root`, as `path:line has "word": write …`. */
export async function refusedWordsUnder(root: string): Promise<string[]> {
  const paths = [...(await Array.fromAsync(glob(READ, { cwd: root }))), CATALOGUE]
  const read = paths.filter((path) => !LEFT_OUT.some((pattern) => pattern.test(path))).toSorted()
  const found = await Promise.all(
    read.map(async (path) =>
      refusedWords(path, await readFile(join(root, path), 'utf8')).map(
        ({ line, word, instead }) => `${path}:${line} has "${word}": write ${instead}`,
      ),
    ),
  )
  return found.flat()
}

/** The text with everything blanked out but comments, without the code in them, and literals of several words. */
function scriptTexts(path: string, text: string): string {
  const { program, comments } = parseSync(path, text)
  const kept = comments.map(({ start, end }) => ({ start, end, isComment: true }))
  const keep = ({ start, end }: { readonly start: number; readonly end: number }) => {
    if (/\S\s+\S/.test(text.slice(start, end))) kept.push({ start, end, isComment: false })
  }
  new Visitor({
    Literal: (node) => (typeof node.value === 'string' ? keep(node) : undefined),
    TemplateElement: keep,
  }).visit(program)
  const pieces: string[] = []
  let at = 0
  for (const { start, end, isComment } of kept.toSorted((one, other) => one.start - other.start)) {
    const piece = text.slice(start, end)
    pieces.push(blank(text.slice(at, start)), isComment ? withoutCode(piece) : piece)
    at = end
  }
  return [...pieces, blank(text.slice(at))].join('')
}

/** Markdown or a configuration without fenced blocks and code spans. */
const proseOf = (text: string): string =>
  withoutCode(text.replaceAll(/^( *)(```|~~~).*?^\1\2/gms, (block) => blank(block)))

const withoutCode = (text: string): string => text.replaceAll(/`[^`\n]*`/g, (span) => blank(span))

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ')

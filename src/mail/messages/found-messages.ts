import { setImmediate as nextTurn } from 'node:timers/promises'

import { MatchMarker } from '#mail/search/mark-matches.ts'
import type { SearchTerm } from '#mail/search/parse-search.ts'
import type { SiteTx } from '#platform/postgres/database.ts'

import { selectTexts } from './list-queries.ts'
import type { MessageListItem } from './model.ts'

/** Of each text, where its first match is looked for. */
const TEXT_CHARACTERS = 32 * 1024
const CHARACTERS_OF_TURN = 8 * 1024

/** What a snippet of these messages is made of; nothing when no word is looked for in texts. */
export async function searchedTexts(
  tx: SiteTx,
  search: readonly SearchTerm[],
  messageIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new MatchMarker(search).isEmpty ? new Map() : selectTexts(tx, messageIds, TEXT_CHARACTERS)
}

/** The messages with what a search has found of them, by turns: many long texts do not keep others waiting. */
export async function markFound(
  search: readonly SearchTerm[],
  items: readonly Omit<MessageListItem, 'matches'>[],
  texts: ReadonlyMap<string, string>,
): Promise<MessageListItem[]> {
  const [subjects, senders] = [new MatchMarker(search, 'subject'), new MatchMarker(search, 'from')]
  const markers = new MatchMarker(search)
  const found: MessageListItem[] = []
  let characters = 0
  for (const item of items) {
    const text = texts.get(item.id) ?? ''
    const snippet = markers.excerptOf(text) ?? item.snippet
    const matches = {
      subject: subjects.rangesIn(item.subject),
      from: senders.rangesIn(item.from),
      snippet: markers.rangesIn(snippet),
    }
    found.push({ ...item, snippet, matches })
    characters += text.length
    if (characters < CHARACTERS_OF_TURN) continue
    characters = 0
    await nextTurn()
  }
  return found
}

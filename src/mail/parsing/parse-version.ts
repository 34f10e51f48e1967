/**
 * The version of what parsing and indexing make of a message. Raise it by one in each change after which the same bytes are shown or
 * found differently: headers, text, HTML, snippet, attachments, or the words of the search. All messages that an earlier version
 * made are then made again, in the background, once a service of the new build starts. Never lower it.
 */
export const PARSE_VERSION = 14

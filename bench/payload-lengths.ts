/** Characters of the text that is sent and comes back. */
export const PAYLOAD_LENGTHS = { '20kb': 20_000, '1mb': 1_000_000 } as const

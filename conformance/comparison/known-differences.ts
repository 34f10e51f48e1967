/** Function files whose output differs from Deno's, and why it does. */
export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  'crypto/aes-gcm.js':
    'The members of a JWK come in the order of Node, whose cryptography makes it; their values are the same',
  'crypto/ed25519.js':
    'A JWK of Ed25519 has "alg", as the Web Cryptography API has it by now; Deno writes none',
  'messages/faults.js':
    'Deno gives errors about missing arguments the `code` of Node; a function has no modules of Node',
  'modules/namespace.js':
    'The members of a JSON object can be imported by their names as well, as bundlers have it',
  'timers/types.js':
    'setTimeout gives a number, as the HTML standard has it; Deno gives the object that Node gives',
}

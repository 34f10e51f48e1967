/** A pattern of texts that people are shown: no control characters, no line breaks, and nothing that turns the words around it. */
export const ONE_LINE = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069]*$'

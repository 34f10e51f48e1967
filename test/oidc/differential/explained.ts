export interface Explanation {
  /** The heading in `docs/reference/oidc-provider-differences.md`, which says why. */
  readonly reason: string
  readonly differences: readonly (readonly [name: string, ours: string, theirs: string])[]
}

/** Every difference that is meant. One that is not here fails, and so does one that is here and is none any more. */
export const EXPLAINED: readonly Explanation[] = [
  {
    reason: 'One way to answer',
    differences: [
      [
        'authorize: response_type token',
        '303 to client unsupported_response_type state=st-1 iss',
        '303 to client in the fragment unsupported_response_type state=st-1 iss',
      ],
      [
        'authorize: response_type id_token',
        '303 to client unsupported_response_type state=st-1 iss',
        '303 to client in the fragment unsupported_response_type state=st-1 iss',
      ],
      [
        'authorize: response_type code id_token',
        '303 to client unsupported_response_type state=st-1 iss',
        '303 to client in the fragment unsupported_response_type state=st-1 iss',
      ],
      [
        'authorize: response_type code token',
        '303 to client unsupported_response_type state=st-1 iss',
        '303 to client in the fragment unsupported_response_type state=st-1 iss',
      ],
      [
        'authorize: response_mode fragment',
        '303 to client unsupported_response_mode state=st-1 iss',
        '303 to sign-in',
      ],
      [
        'authorize: response_mode form_post',
        '303 to client unsupported_response_mode state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: 'A response type is read as it is written',
    differences: [
      [
        'authorize: response_type code code',
        '303 to client unsupported_response_type state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: 'Scopes that are left out, or unknown',
    differences: [
      [
        'authorize: no scope, with a nonce',
        '303 to sign-in',
        '303 to client invalid_request state=st-1 iss',
      ],
      [
        'authorize: an unknown scope',
        '303 to client invalid_scope state=st-1 iss',
        '303 to sign-in',
      ],
      [
        'authorize: scope with commas',
        '303 to client invalid_scope state=st-1 iss',
        '303 to client invalid_request state=st-1 iss',
      ],
    ],
  },
  {
    reason: 'Seconds are digits',
    differences: [
      [
        'authorize: max_age in hexadecimal',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
      [
        'authorize: max_age with an exponent',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: 'A challenge of S256 has 43 characters',
    differences: [
      [
        'authorize: code_challenge of 44 characters',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: "Cognito's own parameter",
    differences: [
      [
        'authorize: identity_provider unknown',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: 'Everything has a bound',
    differences: [
      [
        'authorize: login_hint of 400 characters',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
      [
        'authorize: state of 3000 characters',
        '303 to client invalid_request state=(3000) iss',
        '303 to sign-in',
      ],
      [
        'authorize: nonce of 600 characters',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
      ['authorize: more than 8 KiB', '400 page invalid_request', '303 to sign-in'],
      ['logout: state of 3000 characters', '400 page invalid_request', '200 page that asks'],
    ],
  },
  {
    reason: 'No control characters',
    differences: [
      [
        'authorize: state with a NUL',
        '303 to client invalid_request state=a%00b iss',
        '303 to sign-in',
      ],
      [
        'authorize: state with a line break',
        '303 to client invalid_request state=a%0D%0Aset-cookie: x=1 iss',
        '303 to sign-in',
      ],
      [
        'authorize: nonce with a NUL',
        '303 to client invalid_request state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: 'Consent',
    differences: [
      [
        'authorize: prompt consent when signed in',
        '303 to client with a code state=st-1 iss',
        '303 to sign-in',
      ],
    ],
  },
  {
    reason: "HTTP's own answers",
    differences: [
      ['authorize: POST with the query alone', '415 page', '400 page invalid_request'],
      ['authorize: POST of JSON', '415 page', '400 page invalid_request'],
      ['authorize: PUT', '405 page', '404 text/plain; charset=utf-8'],
      ['token: GET', '405 json MethodNotAllowed', '404 text/plain; charset=utf-8'],
      ['token: PUT', '405 json MethodNotAllowed', '404 text/plain; charset=utf-8'],
      ['userInfo: PUT', '405 json MethodNotAllowed', '404 text/plain; charset=utf-8'],
      ['revoke: GET', '405 json MethodNotAllowed', '404 text/plain; charset=utf-8'],
      ['logout: PUT', '405 page', '404 text/plain; charset=utf-8'],
      ['logout: POST of JSON', '415 page', '400 page invalid_request'],
    ],
  },
  {
    reason: 'Clients that try to authenticate',
    differences: [
      ['token: a client assertion', '401 json invalid_client', '400 json invalid_request'],
      [
        'token: Basic without a secret',
        '401 json invalid_client (Basic invalid_client)',
        '400 json invalid_request',
      ],
    ],
  },
  {
    reason: 'A request for user info without a bearer token',
    differences: [
      ['userInfo: no token', '401 empty (Bearer)', '401 json invalid_token (Bearer)'],
      [
        'userInfo: another scheme',
        '401 empty (Bearer)',
        '400 json invalid_request (Bearer invalid_request)',
      ],
      [
        'userInfo: a token without a scheme',
        '401 empty (Bearer)',
        '400 json invalid_request (Bearer invalid_request)',
      ],
    ],
  },
  {
    reason: 'A malformed token',
    differences: [
      [
        'userInfo: a scheme alone',
        '401 json invalid_token (Bearer invalid_token)',
        '400 json invalid_request (Bearer invalid_request)',
      ],
      [
        'userInfo: two tokens in the header',
        '401 json invalid_token (Bearer invalid_token)',
        '400 json invalid_request (Bearer invalid_request)',
      ],
    ],
  },
  {
    reason: 'A body that says nothing',
    differences: [
      [
        'userInfo: POST of JSON',
        '200 json good',
        '400 json invalid_request (Bearer invalid_request)',
      ],
    ],
  },
  {
    reason: 'An id token is no token to revoke',
    differences: [['revoke: an id token', '200 empty', '400 json unsupported_token_type']],
  },
  {
    reason: 'Codes on pages',
    differences: [
      ['logout: an unknown client', '400 page invalid_request', '400 page invalid_client'],
      [
        'logout: a hint of an unknown client',
        '400 page invalid_request',
        '400 page invalid_client',
      ],
    ],
  },
  {
    reason: 'An address to return to, and no client',
    differences: [
      ['logout: an address without a client', '400 page invalid_request', '200 page that asks'],
      [
        'logout: an address of a stranger without a client',
        '400 page invalid_request',
        '200 page that asks',
      ],
    ],
  },
  {
    reason: 'A bad hint beside a client',
    differences: [
      [
        'logout: a hint that is no token, and a client',
        '200 page that asks',
        '400 page invalid_request',
      ],
      [
        'logout: a hint of a stranger, and a client',
        '200 page that asks',
        '400 page invalid_request',
      ],
      [
        'logout: a hint of another client than client_id',
        '200 page that asks',
        '400 page invalid_request',
      ],
    ],
  },
  {
    reason: 'Signed out already',
    differences: [['logout: nothing, without a sign-in', '200 page', '200 page that asks']],
  },
]

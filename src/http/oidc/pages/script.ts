/**
 * The one script of the pages, and all of it an addition: without it, or in a browser that has no passkeys, every page works. It
 * shows the buttons for passkeys where there are any, and one that shows a password while it is typed.
 */
export const pageScript = `
'use strict';
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/[+]/g, '-').replace(/[/]/g, '_').replace(/=+$/, '');
  const json = ({ id, rawId, type, response: r }) => ({
    id, type, rawId: text(rawId), clientExtensionResults: {},
    response: r.attestationObject
      ? { clientDataJSON: text(r.clientDataJSON), attestationObject: text(r.attestationObject), transports: r.getTransports ? r.getTransports() : [] }
      : { clientDataJSON: text(r.clientDataJSON), authenticatorData: text(r.authenticatorData), signature: text(r.signature), userHandle: r.userHandle ? text(r.userHandle) : null },
  });
  const made = (o) => ({ ...o, challenge: bytes(o.challenge), user: { ...o.user, id: bytes(o.user.id) }, excludeCredentials: o.excludeCredentials.map((c) => ({ ...c, id: bytes(c.id) })) });
  const asked = (o) => ({ ...o, challenge: bytes(o.challenge) });
  let waiting;
  const run = async (form, options) => {
    waiting?.abort();
    waiting = new AbortController();
    const { signal } = waiting;
    const publicKey = JSON.parse(form.dataset.passkey);
    const credential = form.dataset.kind === 'create'
      ? await navigator.credentials.create({ publicKey: made(publicKey), signal })
      : await navigator.credentials.get({ publicKey: asked(publicKey), signal, ...options });
    form.elements.credential.value = JSON.stringify(json(credential));
    form.submit();
  };
  const quietly = (work) => work.catch(() => undefined);
  const forms = window.PublicKeyCredential ? document.querySelectorAll('form[data-passkey]') : [];
  for (const form of forms) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      if (form.elements.credential.value !== '' || event.submitter?.name === 'action') return;
      event.preventDefault();
      quietly(run(form, {}));
    });
    if ('offered' in form.dataset && PublicKeyCredential.isConditionalMediationAvailable) {
      quietly(PublicKeyCredential.isConditionalMediationAvailable().then((can) => can && run(form, { mediation: 'conditional' })));
    }
  }
  const proven = async (box, form, password) => {
    if (password) password.required = false;
    try {
      if (!form.reportValidity()) throw new Error();
      waiting?.abort();
      // A form that makes a passkey, too, may need a second press for it.
      if (form.elements.passkey.value === '') {
        const credential = await navigator.credentials.get({ publicKey: asked(JSON.parse(box.dataset.proof)) });
        form.elements.passkey.value = JSON.stringify(json(credential));
      }
    } catch (error) {
      if (password) password.required = true;
      throw error;
    }
    if (form.dataset.passkey) form.requestSubmit(); else form.submit();
  };
  for (const box of window.PublicKeyCredential ? document.querySelectorAll('[data-proof]') : []) {
    const form = box.closest('form');
    box.hidden = false;
    box.querySelector('button').addEventListener('click', () => quietly(proven(box, form, form.elements.currentPassword)));
  }
  const words = document.querySelector('main').dataset;
  for (const input of document.querySelectorAll('input[type=password]')) {
    const button = document.createElement('button');
    const say = (shown) => { button.textContent = shown ? words.hide : words.show; };
    button.type = 'button';
    button.className = 'link show';
    button.setAttribute('aria-controls', input.id);
    say(false);
    button.addEventListener('click', () => {
      const shown = input.type === 'password';
      input.type = shown ? 'text' : 'password';
      say(shown);
      input.focus();
    });
    input.after(button);
    input.form?.addEventListener('submit', () => { input.type = 'password'; });
  }
})();
`
  .replaceAll(/\s*\n\s*/g, '\n')
  .trim()

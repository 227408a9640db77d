/** WebRTC constructors: no content security policy covers peer connections, which carry data to any address. */
const connections = ['RTCPeerConnection', 'webkitRTCPeerConnection'];

const frame = /<iframe/gi;
const opening = '<iframe'.length - 1;

/**
 * Closes the ways out that the page's policy leaves open. A nested frame would have the removed objects again, so
 * markup and addresses that make one with a document of its own are taken out; in browsers without Trusted Types this
 * is not enforced.
 */
export function blockExfiltration(): void {
  for (const name of connections) Reflect.deleteProperty(globalThis, name);
  // `document.write` accepts markup in pieces.
  let end = '';
  const createHTML = (markup: string, _type: string, sink: string) => {
    // The only attribute that holds markup is a frame's.
    if (/srcdoc|attribute/i.test(sink)) return '';
    const kept = markup.replace(frame, '<x-frame');
    const isSplit = frame.test(end + kept);
    frame.lastIndex = 0;
    end = kept.slice(-opening);
    return isSplit ? '' : kept;
  };
  const same = (text: string) => text;
  const factory = Reflect.get(globalThis, 'trustedTypes');
  factory?.createPolicy('default', { createHTML, createScript: same, createScriptURL: same });
}

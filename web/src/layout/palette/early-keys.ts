/** Text typed between the request for the palette and the focus of its field; without this it would go elsewhere. */
let take: (() => string) | undefined;

/** Starts to collect; `onCancel` handles Escape. Returns a function that stops. */
export function collectKeys(onCancel: () => void): () => void {
  let text = '';
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Backspace') text = text.slice(0, -1);
    else if (event.key.length === 1) text += event.key;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const stop = () => {
    window.removeEventListener('keydown', onKeyDown, true);
    take = undefined;
  };
  window.addEventListener('keydown', onKeyDown, true);
  take = () => {
    stop();
    return text;
  };
  return stop;
}

/** Stops and returns the collected text. */
export function takeKeys(): string {
  return take?.() ?? '';
}

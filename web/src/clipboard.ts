import { useEffect, useState } from 'react';

/** Copies text. `navigator.clipboard` is missing on plain http, where a hidden field still works. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // Refused, but the older way may still work.
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  document.body.append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}

/** A copy action that confirms for two seconds that it worked. */
export function useCopy(): {
  isCopied: boolean;
  copy: (text: string) => void;
  /** For another way of copying. */
  report: (copying: Promise<boolean>) => void;
} {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const report = (copying: Promise<boolean>) => void copying.then(setCopied);
  return { isCopied, copy: (text) => report(copyText(text)), report };
}

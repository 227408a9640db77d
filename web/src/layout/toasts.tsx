import { Button, CloseButton } from '@mantine/core';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { useText } from '../i18n/i18n.ts';
import classes from './toasts.module.css';

type Toast = { id: number; kind: 'notice' | 'failure'; title?: string; message: string; action?: ToastAction };
type ToastAction = { label: string; run: () => void };

const shownFor = 7_000;
const shownAtOnce = 4;

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** A temporary notice with at most one action. */
export function showToast(message: string, action?: ToastAction): void {
  add({ kind: 'notice', message, action });
}

/**
 * A background failure. It stays until dismissed. Failures that belong to a place on the page are shown there instead.
 */
export function showFailure(title: string, message: string, action?: ToastAction): void {
  add({ kind: 'failure', title, message, action });
}

function add(toast: Omit<Toast, 'id'>): void {
  lastId += 1;
  change([...toasts, { ...toast, id: lastId }].slice(-shownAtOnce));
}

function dismiss(id: number): void {
  change(toasts.filter((toast) => toast.id !== id));
}

function change(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** Container of toasts, once per page. */
export function Toasts() {
  const t = useText();
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <section className={classes.region} aria-label={t('app.notices')} aria-live="polite">
      {shown.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </section>
  );
}

function ToastView({ toast }: { toast: Toast }) {
  const t = useText();
  const { id, kind, title, message, action } = toast;
  // Toasts stay while hovered or focused, so that their button can be pressed.
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (kind === 'failure' || isHeld) return;
    const timer = setTimeout(() => dismiss(id), shownFor);
    return () => clearTimeout(timer);
  }, [id, kind, isHeld]);
  const act = () => {
    dismiss(id);
    action?.run();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: hovering only keeps it open
    <div
      className={classes.toast}
      data-kind={kind}
      role={kind === 'failure' ? 'alert' : undefined}
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <div className={classes.text}>
        {title ? <strong>{title}</strong> : null}
        <span>{message}</span>
      </div>
      {action ? (
        <Button size="compact-sm" variant="default" onClick={act}>
          {action.label}
        </Button>
      ) : null}
      <CloseButton size="sm" aria-label={t('app.dismiss')} onClick={() => dismiss(id)} />
    </div>
  );
}

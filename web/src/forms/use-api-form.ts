import type { FieldError } from '@homeport/contracts/errors';
import { type UseFormReturnType, useForm } from '@mantine/form';
import { type FormEvent, useEffect, useRef, useState } from 'react';
import { ApiFailure } from '../api/api-failure.ts';

type Errors<V> = { [Path in keyof V]?: string | null } & Record<string, string | null | undefined>;

type Options<V> = {
  initialValues: V;
  /** Faults by field path (`name`, `headers.0.value`); null and undefined mean no fault. */
  validate: (values: V) => Errors<V>;
  /** Sends the form. Throws `ApiFailure`; field faults are shown at the fields, anything else as `failure`. */
  submit: (values: V) => Promise<void>;
  /** The field that shows the fault of a request path; by default the field with the same name. */
  fieldOf?: (path: string, values: V) => string | undefined;
  /** A failure that belongs to one field: its path and text. */
  placeFailure?: (failure: ApiFailure) => { field: string; text: string } | undefined;
  /** The input to focus when the whole form is refused; by default the focus stays. */
  focusAfterFailure?: string;
};

export type ApiForm<V> = {
  form: UseFormReturnType<V>;
  /** For the form element. */
  formProps: { ref: React.RefObject<HTMLFormElement | null>; onSubmit: (event: FormEvent) => void; noValidate: true };
  isBusy: boolean;
  failure: unknown;
  submit: () => Promise<void>;
  /** Validates the given top-level fields and shows their errors; true if there are none. */
  check: (fields: readonly (keyof V)[]) => boolean;
};

/** A form that is sent only once at a time, shows every fault at its field and focuses the first one. */
export function useApiForm<V extends Record<string, unknown>>(options: Options<V>): ApiForm<V> {
  const form = useForm<V>({ mode: 'controlled', initialValues: options.initialValues });
  const element = useRef<HTMLFormElement>(null);
  const running = useRef(false);
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>();
  const [refusals, setRefusals] = useState(0);

  // Fields get aria-invalid in the render after the refusal.
  useEffect(() => {
    if (refusals > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [refusals]);

  const { focusAfterFailure } = options;
  useEffect(() => {
    if (failure === undefined || focusAfterFailure === undefined) return;
    element.current?.querySelector<HTMLInputElement>(`input[name="${focusAfterFailure}"]`)?.select();
  }, [failure, focusAfterFailure]);

  const refuse = (errors: Record<string, string>) => {
    form.setErrors(errors);
    setRefusals((count) => count + 1);
  };
  const check = (fields: readonly (keyof V)[]) => {
    const names = new Set<unknown>(fields);
    const faults = Object.entries(present(options.validate(form.getValues())));
    const wanted = faults.filter(([path]) => names.has(path.split('.')[0]));
    if (wanted.length > 0) refuse(Object.fromEntries(wanted));
    return wanted.length === 0;
  };
  const submit = async () => {
    if (running.current) return;
    const values = form.getValues();
    const faults = present(options.validate(values));
    setFailure(undefined);
    if (Object.keys(faults).length > 0) return refuse(faults);
    running.current = true;
    setBusy(true);
    try {
      await options.submit(values);
    } catch (error) {
      const placed = placeFaults(error, values, options);
      if (Object.keys(placed.errors).length > 0) refuse(placed.errors);
      setFailure(placed.rest);
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    // In React, a dialog's form is inside the page's form, though not in the DOM.
    event.stopPropagation();
    void submit();
  };
  return { form, formProps: { ref: element, onSubmit, noValidate: true }, isBusy, failure, submit, check };
}

function placeFaults<V>(
  error: unknown,
  values: V,
  options: Pick<Options<V>, 'fieldOf' | 'placeFailure'>,
): { errors: Record<string, string>; rest: unknown } {
  if (!(error instanceof ApiFailure)) return { errors: {}, rest: error };
  const placed = options.placeFailure?.(error);
  if (placed) return { errors: { [placed.field]: placed.text }, rest: undefined };
  if (error.code !== 'invalid_request') return { errors: {}, rest: error };
  const errors: Record<string, string> = {};
  let rest: unknown = error;
  for (const { path, message } of readFieldErrors(error.details)) {
    const field = options.fieldOf ? options.fieldOf(path, values) : path;
    if (field === undefined || !hasField(values, field)) continue;
    errors[field] ??= message;
    rest = undefined;
  }
  return { errors, rest };
}

function present(errors: Record<string, string | null | undefined>): Record<string, string> {
  const entries = Object.entries(errors).flatMap(([path, text]) => (text ? [[path, text] as const] : []));
  return Object.fromEntries(entries);
}

function hasField(values: unknown, field: string): boolean {
  return typeof values === 'object' && values !== null && Object.hasOwn(values, field.split('.')[0] ?? '');
}

/** The field faults in the details of a refusal. */
export function readFieldErrors(details: unknown): FieldError[] {
  return Array.isArray(details) ? details.filter(isFieldError) : [];
}

function isFieldError(value: unknown): value is FieldError {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof Reflect.get(value, 'path') === 'string' &&
    typeof Reflect.get(value, 'message') === 'string'
  );
}

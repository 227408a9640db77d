import { Button, Loader } from '@mantine/core';

/** Submits a form. While busy, it keeps the focus and does nothing. */
export function SubmitButton({
  label,
  busyLabel,
  isBusy,
  isWide = false,
}: {
  label: string;
  busyLabel: string;
  isBusy: boolean;
  isWide?: boolean;
}) {
  return (
    <Button
      type="submit"
      fullWidth={isWide}
      aria-disabled={isBusy}
      leftSection={isBusy ? <Loader size={14} color="currentColor" aria-hidden /> : undefined}
    >
      {isBusy ? busyLabel : label}
    </Button>
  );
}

import classes from './assistant-picture.module.css';

/** The picture, emoji or first letter of an assistant; its name stands beside it. */
export function AssistantPicture({ icon, name }: { icon: string | null; name: string }) {
  const isPicture = icon?.startsWith('data:') === true;
  return (
    <span className={classes.picture} data-letter={icon === null || undefined} aria-hidden>
      {isPicture ? <img src={icon} alt="" /> : (icon ?? Array.from(name.trim())[0]?.toUpperCase())}
    </span>
  );
}

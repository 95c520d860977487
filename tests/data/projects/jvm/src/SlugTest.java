public class SlugTest {
    public static void main(String[] arguments) {
        String got = Slug.slug("Two Words");
        if (!got.equals("two-words")) throw new AssertionError(got);
    }
}

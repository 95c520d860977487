public class Slug {
    static String slug(String title) {
        return title.toLowerCase();
    }
}
